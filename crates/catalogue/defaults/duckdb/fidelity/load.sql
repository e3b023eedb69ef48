-- Objects over several lines are read, too; one has 16 MiB at most by default.
INSERT INTO {{table}} (doc)
SELECT json FROM read_json_objects('{{file}}', format = 'unstructured', maximum_object_size = 33554432);

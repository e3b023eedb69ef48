INSERT INTO {{table}} (doc)
SELECT json::VARIANT FROM read_json_objects('{{file}}', format = 'unstructured', maximum_object_size = 33554432);

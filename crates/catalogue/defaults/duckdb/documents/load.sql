-- An object has 16 MiB at most by default. With its columns stated a line is taken apart once: half the time.
INSERT INTO {{table}} (key, doc)
SELECT key, doc
FROM read_json(
    '{{file}}',
    format = 'newline_delimited',
    columns = {key: 'BIGINT', doc: 'JSON'},
    maximum_object_size = 67108864
);

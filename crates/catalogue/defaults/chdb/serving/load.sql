INSERT INTO {{table}} (key, doc)
SELECT JSONExtract(line, 'key', '{{key_type}}'), JSONExtractRaw(line, 'doc')
FROM file('{{file}}', LineAsString, 'line String');

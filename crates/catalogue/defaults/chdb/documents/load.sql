INSERT INTO {{table}} (key, doc)
SELECT JSONExtract(line, 'key', 'Int64'), JSONExtractRaw(line, 'doc')
FROM file('{{file}}', LineAsString, 'line String');

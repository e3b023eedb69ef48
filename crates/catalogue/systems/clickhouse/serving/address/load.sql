INSERT INTO {{table}} (key, doc)
SELECT JSONExtract(line, 'key', '{{key_type}}'), JSONExtractRaw(line, 'doc')
FROM input('line String') FORMAT LineAsString

INSERT INTO {{table}} (key, doc)
SELECT JSONExtract(line, 'key', 'Int64'), JSONExtractRaw(line, 'doc')
FROM input('line String') FORMAT LineAsString

SELECT JSONExtractString(element, 'value') AS value
FROM {{table}}
ARRAY JOIN JSONExtractArrayRaw(JSON_QUERY(doc, '{{path}}[*]')) AS element
WHERE key = {{key}} AND JSONExtractBool(element, 'status');

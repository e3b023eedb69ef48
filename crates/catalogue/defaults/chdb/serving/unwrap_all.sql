SELECT count() AS elements
FROM {{table}}
ARRAY JOIN JSONExtractArrayRaw(JSON_QUERY(doc, '{{path}}[*]')) AS element
WHERE JSONExtractBool(element, 'status');

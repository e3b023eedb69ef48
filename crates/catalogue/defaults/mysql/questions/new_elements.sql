SELECT JSON_UNQUOTE(JSON_EXTRACT(element, '{{element}}')) COLLATE utf8mb4_0900_bin AS value, COUNT(*) AS n
FROM {{table}}, JSON_TABLE(doc, '{{path}}[*]' COLUMNS (element JSON PATH '$')) AS elements
WHERE JSON_TYPE(JSON_EXTRACT(doc, '{{path}}')) = 'ARRAY' AND JSON_TYPE(JSON_EXTRACT(element, '{{element}}')) = 'STRING'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

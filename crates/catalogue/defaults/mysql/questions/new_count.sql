SELECT JSON_UNQUOTE(doc->'{{path}}') COLLATE utf8mb4_0900_bin AS value, COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(doc->'{{path}}') = 'STRING'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

SELECT
    JSON_UNQUOTE(doc->'{{path}}') COLLATE utf8mb4_0900_bin AS value,
    JSON_UNQUOTE(doc->'{{second}}') COLLATE utf8mb4_0900_bin AS second_value,
    COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(doc->'{{path}}') = 'STRING' AND JSON_TYPE(doc->'{{second}}') = 'STRING'
GROUP BY value, second_value
ORDER BY n DESC, value, second_value
LIMIT 10;

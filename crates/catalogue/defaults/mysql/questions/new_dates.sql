SELECT LEFT(JSON_UNQUOTE(doc->'{{path}}'), {{length}}) COLLATE utf8mb4_0900_bin AS value, COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(doc->'{{path}}') = 'STRING' AND JSON_UNQUOTE(doc->'{{path}}') REGEXP '{{pattern}}'
GROUP BY value
ORDER BY value DESC
LIMIT 100;

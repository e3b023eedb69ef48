SELECT COUNT(DISTINCT JSON_UNQUOTE(doc->'{{path}}') COLLATE utf8mb4_0900_bin) AS n
FROM {{table}}
WHERE JSON_TYPE(doc->'{{path}}') = 'STRING';

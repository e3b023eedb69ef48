SELECT COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(doc->'{{path}}') = 'STRING' AND JSON_UNQUOTE(doc->'{{path}}') COLLATE utf8mb4_0900_bin = '{{value}}';

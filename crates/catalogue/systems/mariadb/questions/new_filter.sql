SELECT COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(JSON_EXTRACT(doc, '{{path}}')) = 'STRING' AND JSON_VALUE(doc, '{{path}}') COLLATE utf8mb4_nopad_bin = '{{value}}';

SELECT COUNT(*) AS n
FROM {{table}}, JSON_TABLE(doc, '$' COLUMNS (found JSON PATH '{{path}}')) AS path
WHERE JSON_TYPE(found) = 'STRING' AND JSON_VALUE(doc, '{{path}}') COLLATE utf8mb4_nopad_bin = '{{value}}';

SELECT COUNT(DISTINCT JSON_VALUE(doc, '{{path}}') COLLATE utf8mb4_nopad_bin) AS n
FROM {{table}}, JSON_TABLE(doc, '$' COLUMNS (found JSON PATH '{{path}}')) AS path
WHERE JSON_TYPE(found) = 'STRING';

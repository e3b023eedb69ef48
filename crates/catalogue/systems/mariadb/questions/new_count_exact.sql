SELECT JSON_VALUE(doc, '{{path}}') COLLATE utf8mb4_nopad_bin AS value, COUNT(*) AS n
FROM {{table}}, JSON_TABLE(doc, '$' COLUMNS (found JSON PATH '{{path}}')) AS path
WHERE JSON_TYPE(found) = 'STRING'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

SELECT
    JSON_VALUE(doc, '{{path}}') COLLATE utf8mb4_nopad_bin AS value,
    JSON_VALUE(doc, '{{second}}') COLLATE utf8mb4_nopad_bin AS second_value,
    COUNT(*) AS n
FROM {{table}}, JSON_TABLE(doc, '$' COLUMNS (found JSON PATH '{{path}}', second_found JSON PATH '{{second}}')) AS paths
WHERE JSON_TYPE(found) = 'STRING' AND JSON_TYPE(second_found) = 'STRING'
GROUP BY value, second_value
ORDER BY n DESC, value, second_value
LIMIT 10;

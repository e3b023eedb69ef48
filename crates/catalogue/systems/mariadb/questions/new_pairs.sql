SELECT
    JSON_VALUE(doc, '{{path}}') COLLATE utf8mb4_nopad_bin AS value,
    JSON_VALUE(doc, '{{second}}') COLLATE utf8mb4_nopad_bin AS second_value,
    COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(JSON_EXTRACT(doc, '{{path}}')) = 'STRING' AND JSON_TYPE(JSON_EXTRACT(doc, '{{second}}')) = 'STRING'
GROUP BY value, second_value
ORDER BY n DESC, value, second_value
LIMIT 10;

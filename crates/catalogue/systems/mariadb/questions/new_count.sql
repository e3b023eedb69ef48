SELECT JSON_VALUE(doc, '{{path}}') COLLATE utf8mb4_nopad_bin AS value, COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(JSON_EXTRACT(doc, '{{path}}')) = 'STRING'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

SELECT LEFT(JSON_VALUE(doc, '{{path}}'), {{length}}) COLLATE utf8mb4_nopad_bin AS value, COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(JSON_EXTRACT(doc, '{{path}}')) = 'STRING' AND JSON_VALUE(doc, '{{path}}') REGEXP '{{pattern}}'
GROUP BY value
ORDER BY value DESC
LIMIT 100;

SELECT LEFT(JSON_VALUE(doc, '{{path}}'), {{length}}) COLLATE utf8mb4_nopad_bin AS value, COUNT(*) AS n
FROM {{table}}, JSON_TABLE(doc, '$' COLUMNS (found JSON PATH '{{path}}')) AS path
WHERE JSON_TYPE(found) = 'STRING' AND JSON_VALUE(doc, '{{path}}') REGEXP '{{pattern}}'
GROUP BY value
ORDER BY value DESC
LIMIT 100;

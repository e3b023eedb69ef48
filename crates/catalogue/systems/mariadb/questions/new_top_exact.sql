SELECT CAST(found AS DOUBLE) AS value
FROM {{table}}, JSON_TABLE(doc, '$' COLUMNS (found JSON PATH '{{path}}')) AS path
WHERE JSON_TYPE(found) IN ('INTEGER', 'DOUBLE')
ORDER BY value DESC
LIMIT 10;

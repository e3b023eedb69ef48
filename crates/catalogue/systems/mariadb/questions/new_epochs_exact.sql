SELECT CAST(FLOOR(CAST(found AS DOUBLE) / {{bucket}}) AS SIGNED) * {{bucket_us}} AS value, COUNT(*) AS n
FROM {{table}}, JSON_TABLE(doc, '$' COLUMNS (found JSON PATH '{{path}}')) AS path
WHERE JSON_TYPE(found) IN ('INTEGER', 'DOUBLE') AND CAST(found AS DOUBLE) >= {{from}} AND CAST(found AS DOUBLE) < {{until}}
GROUP BY value
ORDER BY value DESC
LIMIT 100;

SELECT CAST(FLOOR(CAST(doc->'{{path}}' AS DOUBLE) / {{bucket}}) AS SIGNED) * {{bucket_us}} AS value, COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(doc->'{{path}}') IN ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL')
    AND CAST(doc->'{{path}}' AS DOUBLE) >= {{from}} AND CAST(doc->'{{path}}' AS DOUBLE) < {{until}}
GROUP BY value
ORDER BY value DESC
LIMIT 100;

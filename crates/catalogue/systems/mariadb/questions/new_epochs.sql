SELECT CAST(FLOOR(CAST(JSON_VALUE(doc, '{{path}}') AS DOUBLE) / {{bucket}}) AS SIGNED) * {{bucket_us}} AS value, COUNT(*) AS n
FROM {{table}}
WHERE JSON_TYPE(JSON_EXTRACT(doc, '{{path}}')) IN ('INTEGER', 'DOUBLE')
    AND CAST(JSON_VALUE(doc, '{{path}}') AS DOUBLE) >= {{from}} AND CAST(JSON_VALUE(doc, '{{path}}') AS DOUBLE) < {{until}}
GROUP BY value
ORDER BY value DESC
LIMIT 100;

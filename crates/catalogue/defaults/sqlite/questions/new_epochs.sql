-- All numbers in the range are positive, so that a cast rounds them down.
SELECT CAST(CAST(doc ->> '{{path}}' AS REAL) / {{bucket}} AS INTEGER) * {{bucket_us}} AS value, count(*) AS n
FROM {{table}}
WHERE json_type(doc, '{{path}}') IN ('integer', 'real')
    AND CAST(doc ->> '{{path}}' AS REAL) >= {{from}} AND CAST(doc ->> '{{path}}' AS REAL) < {{until}}
GROUP BY value
ORDER BY value DESC
LIMIT 100;

SELECT CAST(doc ->> '{{path}}' AS REAL) AS value
FROM {{table}}
WHERE json_type(doc, '{{path}}') IN ('integer', 'real')
ORDER BY value DESC
LIMIT 10;

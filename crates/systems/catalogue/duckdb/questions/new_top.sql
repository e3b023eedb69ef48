SELECT CAST(doc ->> '{{path}}' AS DOUBLE) AS value
FROM {{table}}
WHERE json_type(doc, '{{path}}') IN ('BIGINT', 'UBIGINT', 'DOUBLE')
ORDER BY value DESC
LIMIT 10;

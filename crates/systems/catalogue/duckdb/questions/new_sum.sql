SELECT sum(CAST(doc ->> '{{path}}' AS DOUBLE)) AS total, avg(CAST(doc ->> '{{path}}' AS DOUBLE)) AS mean
FROM {{table}}
WHERE json_type(doc, '{{path}}') IN ('BIGINT', 'UBIGINT', 'DOUBLE');

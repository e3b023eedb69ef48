SELECT
    sum(CAST(doc ->> '{{path}}' AS DOUBLE)) AS total,
    avg(CAST(doc ->> '{{path}}' AS DOUBLE)) AS mean,
    count(*) AS n,
    sum(abs(CAST(doc ->> '{{path}}' AS DOUBLE))) AS size
FROM {{table}}
WHERE json_type(doc, '{{path}}') IN ('BIGINT', 'UBIGINT', 'DOUBLE');

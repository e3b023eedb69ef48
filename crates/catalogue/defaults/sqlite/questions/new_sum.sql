SELECT
    sum(CAST(doc ->> '{{path}}' AS REAL)) AS total,
    avg(CAST(doc ->> '{{path}}' AS REAL)) AS mean,
    count(*) AS n,
    sum(abs(CAST(doc ->> '{{path}}' AS REAL))) AS size
FROM {{table}}
WHERE json_type(doc, '{{path}}') IN ('integer', 'real');

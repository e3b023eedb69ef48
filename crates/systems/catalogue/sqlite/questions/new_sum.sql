SELECT sum(CAST(doc ->> '{{path}}' AS REAL)) AS total, avg(CAST(doc ->> '{{path}}' AS REAL)) AS mean
FROM {{table}}
WHERE json_type(doc, '{{path}}') IN ('integer', 'real');

SELECT
    SUM(CAST(doc->'{{path}}' AS DOUBLE)) AS total,
    AVG(CAST(doc->'{{path}}' AS DOUBLE)) AS mean,
    COUNT(*) AS n,
    SUM(ABS(CAST(doc->'{{path}}' AS DOUBLE))) AS size
FROM {{table}}
WHERE JSON_TYPE(doc->'{{path}}') IN ('INTEGER', 'UNSIGNED INTEGER', 'DOUBLE', 'DECIMAL');

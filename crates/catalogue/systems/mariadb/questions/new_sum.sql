SELECT
    SUM(CAST(JSON_VALUE(doc, '{{path}}') AS DOUBLE)) AS total,
    AVG(CAST(JSON_VALUE(doc, '{{path}}') AS DOUBLE)) AS mean,
    COUNT(*) AS n,
    SUM(ABS(CAST(JSON_VALUE(doc, '{{path}}') AS DOUBLE))) AS size
FROM {{table}}
WHERE JSON_TYPE(JSON_EXTRACT(doc, '{{path}}')) IN ('INTEGER', 'DOUBLE');

SELECT
    SUM(CAST(found AS DOUBLE)) AS total,
    AVG(CAST(found AS DOUBLE)) AS mean,
    COUNT(*) AS n,
    SUM(ABS(CAST(found AS DOUBLE))) AS size
FROM {{table}}, JSON_TABLE(doc, '$' COLUMNS (found JSON PATH '{{path}}')) AS path
WHERE JSON_TYPE(found) IN ('INTEGER', 'DOUBLE');

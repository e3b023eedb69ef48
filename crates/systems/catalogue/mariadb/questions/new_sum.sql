SELECT SUM(CAST(JSON_VALUE(doc, '{{path}}') AS DOUBLE)) AS total, AVG(CAST(JSON_VALUE(doc, '{{path}}') AS DOUBLE)) AS mean
FROM {{table}}
WHERE JSON_TYPE(JSON_EXTRACT(doc, '{{path}}')) IN ('INTEGER', 'DOUBLE');

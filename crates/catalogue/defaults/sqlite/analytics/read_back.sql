SELECT json(doc) AS document
FROM {{table}}
WHERE doc ->> '$.time_us' IN ({{keys}});

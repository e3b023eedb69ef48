SELECT doc::VARCHAR AS document
FROM {{table}}
WHERE TRY_CAST(doc ->> '$.time_us' AS BIGINT) IN ({{keys}});

SELECT j::VARCHAR AS document
FROM {{table}}
WHERE TRY_CAST(j ->> '$.time_us' AS BIGINT) IN ({{keys}});

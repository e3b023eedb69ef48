SELECT try_cast({{path}} AS DOUBLE) AS value
FROM {{table}}
WHERE variant_typeof({{path}}) IN ('INT64', 'UINT64', 'DOUBLE')
ORDER BY value DESC
LIMIT 10;

SELECT floor(try_cast({{path}} AS DOUBLE) / {{bucket}})::BIGINT * {{bucket_us}} AS value, count(*) AS n
FROM {{table}}
WHERE variant_typeof({{path}}) IN ('INT64', 'UINT64', 'DOUBLE')
    AND try_cast({{path}} AS DOUBLE) >= {{from}} AND try_cast({{path}} AS DOUBLE) < {{until}}
GROUP BY value
ORDER BY value DESC
LIMIT 100;

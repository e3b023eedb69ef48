SELECT
    sum(try_cast({{path}} AS DOUBLE)) AS total,
    avg(try_cast({{path}} AS DOUBLE)) AS mean,
    count(*) AS n,
    sum(abs(try_cast({{path}} AS DOUBLE))) AS size
FROM {{table}}
WHERE variant_typeof({{path}}) IN ('INT64', 'UINT64', 'DOUBLE');

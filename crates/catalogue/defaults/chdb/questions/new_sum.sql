SELECT
    sum(toFloat64OrNull(toString({{path}}))) AS total,
    avg(toFloat64OrNull(toString({{path}}))) AS mean,
    count() AS n,
    sum(abs(toFloat64OrNull(toString({{path}})))) AS size
FROM {{table}}
WHERE dynamicType({{path}}) IN ('Int64', 'UInt64', 'Float64');

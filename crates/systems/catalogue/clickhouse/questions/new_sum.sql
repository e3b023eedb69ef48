SELECT sum(toFloat64OrNull(toString({{path}}))) AS total, avg(toFloat64OrNull(toString({{path}}))) AS mean
FROM {{table}}
WHERE dynamicType({{path}}) IN ('Int64', 'UInt64', 'Float64');

SELECT toFloat64OrNull(toString({{path}})) AS value
FROM {{table}}
WHERE dynamicType({{path}}) IN ('Int64', 'UInt64', 'Float64')
ORDER BY value DESC
LIMIT 10;

SELECT toInt64(floor(toFloat64OrNull(toString({{path}})) / {{bucket}})) * {{bucket_us}} AS value, count(*) AS n
FROM {{table}}
WHERE dynamicType({{path}}) IN ('Int64', 'UInt64', 'Float64')
    AND toFloat64OrNull(toString({{path}})) >= {{from}} AND toFloat64OrNull(toString({{path}})) < {{until}}
GROUP BY value
ORDER BY value DESC
LIMIT 100;

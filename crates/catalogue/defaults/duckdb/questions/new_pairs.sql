SELECT {{path}}::VARCHAR AS value, {{second}}::VARCHAR AS second_value, count(*) AS n
FROM {{table}}
WHERE variant_typeof({{path}}) = 'VARCHAR' AND variant_typeof({{second}}) = 'VARCHAR'
GROUP BY value, second_value
ORDER BY n DESC, value, second_value
LIMIT 10;

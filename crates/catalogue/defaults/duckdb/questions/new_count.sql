SELECT {{path}}::VARCHAR AS value, count(*) AS n
FROM {{table}}
WHERE variant_typeof({{path}}) = 'VARCHAR'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

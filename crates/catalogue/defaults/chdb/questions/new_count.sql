SELECT {{path}}.:String AS value, count(*) AS n
FROM {{table}}
WHERE isNotNull({{path}}.:String)
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

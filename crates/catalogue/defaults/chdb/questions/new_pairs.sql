SELECT {{path}}.:String AS value, {{second}}.:String AS second_value, count(*) AS n
FROM {{table}}
WHERE isNotNull({{path}}.:String) AND isNotNull({{second}}.:String)
GROUP BY value, second_value
ORDER BY n DESC, value, second_value
LIMIT 10;

SELECT substring({{path}}.:String, 1, {{length}}) AS value, count(*) AS n
FROM {{table}}
WHERE isNotNull({{path}}.:String) AND match({{path}}.:String, '{{pattern}}')
GROUP BY value
ORDER BY value DESC
LIMIT 100;

SELECT left({{path}}::VARCHAR, {{length}}) AS value, count(*) AS n
FROM {{table}}
WHERE variant_typeof({{path}}) = 'VARCHAR' AND regexp_matches({{path}}::VARCHAR, '{{pattern}}')
GROUP BY value
ORDER BY value DESC
LIMIT 100;

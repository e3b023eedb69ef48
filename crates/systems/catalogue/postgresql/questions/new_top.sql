SELECT ({{path}})::float8 AS value
FROM {{table}}
WHERE jsonb_typeof({{path}}) = 'number'
ORDER BY value DESC
LIMIT 10;

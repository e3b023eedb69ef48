SELECT count(DISTINCT {{path}}::VARCHAR) AS n
FROM {{table}}
WHERE variant_typeof({{path}}) = 'VARCHAR';

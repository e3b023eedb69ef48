SELECT count(*) AS n
FROM {{table}}
WHERE variant_typeof({{path}}) = 'VARCHAR' AND {{path}}::VARCHAR = '{{value}}';

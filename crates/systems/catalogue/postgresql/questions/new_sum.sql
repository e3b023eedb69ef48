SELECT sum(({{path}})::float8) AS total, avg(({{path}})::float8) AS mean
FROM {{table}}
WHERE jsonb_typeof({{path}}) = 'number';

SELECT count(DISTINCT {{path}} #>> '{}') AS n
FROM {{table}}
WHERE jsonb_typeof({{path}}) = 'string';

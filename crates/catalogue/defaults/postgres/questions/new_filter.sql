SELECT count(*) AS n
FROM {{table}}
WHERE jsonb_typeof({{path}}) = 'string' AND {{path}} #>> '{}' = '{{value}}';

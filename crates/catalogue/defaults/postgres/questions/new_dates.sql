SELECT left({{path}} #>> '{}', {{length}}) COLLATE "C" AS value, count(*) AS n
FROM {{table}}
WHERE jsonb_typeof({{path}}) = 'string' AND ({{path}} #>> '{}') ~ '{{pattern}}'
GROUP BY value
ORDER BY value DESC
LIMIT 100;

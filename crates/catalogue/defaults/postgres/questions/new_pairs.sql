-- The order of strings is that of their bytes, whatever the database's own is.
SELECT ({{path}} #>> '{}') COLLATE "C" AS value, ({{second}} #>> '{}') COLLATE "C" AS second_value, count(*) AS n
FROM {{table}}
WHERE jsonb_typeof({{path}}) = 'string' AND jsonb_typeof({{second}}) = 'string'
GROUP BY value, second_value
ORDER BY n DESC, value, second_value
LIMIT 10;

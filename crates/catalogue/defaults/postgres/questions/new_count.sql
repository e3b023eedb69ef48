-- The order of strings is that of their bytes, whatever the database's own is.
SELECT ({{path}} #>> '{}') COLLATE "C" AS value, count(*) AS n
FROM {{table}}
WHERE jsonb_typeof({{path}}) = 'string'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

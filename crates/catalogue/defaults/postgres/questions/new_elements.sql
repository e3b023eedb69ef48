-- The order of strings is that of their bytes, whatever the database's own is.
SELECT (({{element}}) #>> '{}') COLLATE "C" AS value, count(*) AS n
FROM {{table}}, jsonb_array_elements(CASE jsonb_typeof({{path}}) WHEN 'array' THEN {{path}} END) AS elements (element)
WHERE jsonb_typeof({{element}}) = 'string'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

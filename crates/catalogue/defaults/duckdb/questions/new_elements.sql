SELECT json_extract_string({{element}}, '$') AS value, count(*) AS n
FROM (
    SELECT unnest(json_extract(elements, '$[*]')) AS element
    FROM (SELECT {{path}}::JSON AS elements FROM {{table}}) AS arrays
    WHERE json_type(elements) = 'ARRAY'
) AS unnested
WHERE json_type({{element}}) = 'VARCHAR'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

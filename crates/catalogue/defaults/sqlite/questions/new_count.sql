SELECT doc ->> '{{path}}' AS value, count(*) AS n
FROM {{table}}
WHERE json_type(doc, '{{path}}') = 'text'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

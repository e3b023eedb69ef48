SELECT substr(doc ->> '{{path}}', 1, {{length}}) AS value, count(*) AS n
FROM {{table}}
WHERE json_type(doc, '{{path}}') = 'text' AND doc ->> '{{path}}' GLOB '{{glob}}'
GROUP BY value
ORDER BY value DESC
LIMIT 100;

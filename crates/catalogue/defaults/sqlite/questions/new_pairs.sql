SELECT doc ->> '{{path}}' AS value, doc ->> '{{second}}' AS second_value, count(*) AS n
FROM {{table}}
WHERE json_type(doc, '{{path}}') = 'text' AND json_type(doc, '{{second}}') = 'text'
GROUP BY value, second_value
ORDER BY n DESC, value, second_value
LIMIT 10;

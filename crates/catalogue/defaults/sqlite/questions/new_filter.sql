SELECT count(*) AS n
FROM {{table}}
WHERE json_type(doc, '{{path}}') = 'text' AND doc ->> '{{path}}' = '{{value}}';

SELECT count(*) AS n
FROM {{table}}
WHERE json_type(doc, '{{path}}') = 'VARCHAR' AND (doc ->> '{{path}}') = '{{value}}';

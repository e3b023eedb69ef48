SELECT count(DISTINCT doc ->> '{{path}}') AS n
FROM {{table}}
WHERE json_type(doc, '{{path}}') = 'text';

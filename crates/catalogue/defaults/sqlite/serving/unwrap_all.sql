SELECT count(*) AS elements
FROM {{table}}, json_each(doc, '{{path}}') AS element
WHERE element.value ->> '$.status';

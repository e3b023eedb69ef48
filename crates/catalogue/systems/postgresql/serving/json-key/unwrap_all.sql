SELECT count(*) AS elements
FROM {{table}}, json_array_elements(doc #> '{{braced}}') AS element
WHERE (element ->> 'status')::boolean;

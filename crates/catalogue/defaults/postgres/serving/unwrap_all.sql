SELECT count(*) AS elements
FROM {{table}}, jsonb_array_elements(doc #> '{{braced}}') AS element
WHERE (element ->> 'status')::boolean;

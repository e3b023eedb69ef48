SELECT element ->> 'value' AS value
FROM {{table}}, jsonb_array_elements(doc #> '{{braced}}') AS element
WHERE key = {{key}} AND (element ->> 'status')::boolean;

SELECT element ->> 'value' AS value
FROM {{table}}, jsonb_array_elements(doc #> '{{braced}}') AS element
WHERE (doc ->> 'key')::{{key_type}} = {{key}} AND (element ->> 'status')::boolean;

SELECT element ->> 'value' AS value
FROM {{table}}, jsonb_array_elements(doc #> '{{braced}}') AS element
WHERE doc @> jsonb_build_object('key', {{key}}::{{key_type}}) AND (element ->> 'status')::boolean;

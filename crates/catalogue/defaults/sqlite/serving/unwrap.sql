SELECT element.value ->> '$.value' AS value
FROM {{table}}, json_each(doc, '{{path}}') AS element
WHERE {{table}}.key = {{key}} AND element.value ->> '$.status';

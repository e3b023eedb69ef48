SELECT element.value
FROM {{table}},
    JSON_TABLE(doc, '{{path}}[*]' COLUMNS (value TEXT PATH '$.value', status BOOLEAN PATH '$.status')) AS element
WHERE `key` = {{key}} AND element.status;

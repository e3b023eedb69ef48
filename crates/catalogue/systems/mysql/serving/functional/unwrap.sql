SELECT element.value
FROM {{table}},
    JSON_TABLE(doc, '{{path}}[*]' COLUMNS (value TEXT PATH '$.value', status BOOLEAN PATH '$.status')) AS element
WHERE CAST(doc->>'$.key' AS CHAR(23) CHARACTER SET ascii) COLLATE ascii_bin = {{key}} AND element.status;

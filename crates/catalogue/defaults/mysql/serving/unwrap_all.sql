SELECT COUNT(*) AS elements
FROM {{table}}, JSON_TABLE(doc, '{{path}}[*]' COLUMNS (status BOOLEAN PATH '$.status')) AS element
WHERE element.status;

SELECT `key`, doc FROM {{table}}
WHERE JSON_VALUE(doc, '{{path}}' RETURNING CHAR(255) ERROR ON ERROR) COLLATE utf8mb4_0900_bin = {{condition}}
LIMIT {{limit}};

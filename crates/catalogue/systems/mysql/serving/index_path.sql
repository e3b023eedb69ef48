CREATE INDEX {{table}}_path ON {{table}}
    ((JSON_VALUE(doc, '{{path}}' RETURNING CHAR(255) ERROR ON ERROR) COLLATE utf8mb4_0900_bin));
ANALYZE TABLE {{table}};

-- There are no indexes on expressions: a column that holds nothing gives this one its name.
ALTER TABLE {{table}}
    ADD COLUMN found_by VARCHAR(255) COLLATE utf8mb4_nopad_bin AS (JSON_VALUE(doc, '{{path}}')) VIRTUAL,
    ADD INDEX {{table}}_path (found_by);
ANALYZE TABLE {{table}};

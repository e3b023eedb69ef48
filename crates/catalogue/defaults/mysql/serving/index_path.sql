ALTER TABLE {{table}} ADD COLUMN found_by VARCHAR(255) COLLATE utf8mb4_0900_bin AS (doc->>'{{path}}') VIRTUAL;
CREATE INDEX {{table}}_path ON {{table}} (found_by);
ANALYZE TABLE {{table}};

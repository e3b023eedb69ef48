CREATE TABLE {{table}} (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    doc JSON NOT NULL,
    `key` {{key_type}} AS (doc->>'$.key') STORED NOT NULL,
    UNIQUE INDEX {{table}}_key (`key`)
) {{row_format}};

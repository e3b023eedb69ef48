CREATE TABLE {{table}} (
    doc JSON NOT NULL,
    kind VARCHAR(16) COLLATE utf8mb4_nopad_bin
        GENERATED ALWAYS AS (JSON_VALUE(doc, '$.kind')) VIRTUAL,
    operation VARCHAR(16) COLLATE utf8mb4_nopad_bin
        GENERATED ALWAYS AS (JSON_VALUE(doc, '$.commit.operation')) VIRTUAL,
    collection VARCHAR(317) COLLATE utf8mb4_nopad_bin
        GENERATED ALWAYS AS (JSON_VALUE(doc, '$.commit.collection')) VIRTUAL,
    did VARCHAR(255) COLLATE utf8mb4_nopad_bin
        GENERATED ALWAYS AS (JSON_VALUE(doc, '$.did')) VIRTUAL,
    time_us BIGINT
        GENERATED ALWAYS AS (JSON_VALUE(doc, '$.time_us')) VIRTUAL
) {{row_format}};

CREATE TABLE {{table}} (
    doc JSON NOT NULL,
    kind VARCHAR(16) COLLATE utf8mb4_nopad_bin GENERATED ALWAYS AS ({{kind}}) VIRTUAL,
    operation VARCHAR(16) COLLATE utf8mb4_nopad_bin GENERATED ALWAYS AS ({{operation}}) VIRTUAL,
    collection VARCHAR(317) COLLATE utf8mb4_nopad_bin GENERATED ALWAYS AS ({{collection}}) VIRTUAL,
    did VARCHAR(255) COLLATE utf8mb4_nopad_bin GENERATED ALWAYS AS ({{did}}) VIRTUAL,
    time_us BIGINT GENERATED ALWAYS AS ({{time_us}}) VIRTUAL
) {{row_format}};

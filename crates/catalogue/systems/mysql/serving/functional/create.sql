CREATE TABLE {{table}} (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    doc JSON NOT NULL,
    UNIQUE INDEX {{table}}_key ((CAST(doc->>'$.key' AS CHAR(23) CHARACTER SET ascii) COLLATE ascii_bin))
) {{row_format}};

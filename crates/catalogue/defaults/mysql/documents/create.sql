CREATE TABLE {{table}} (`key` BIGINT NOT NULL PRIMARY KEY, doc JSON NOT NULL) {{row_format}};

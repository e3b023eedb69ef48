CREATE TABLE {{table}} (`key` {{key_type}} NOT NULL PRIMARY KEY, doc JSON NOT NULL) {{row_format}};

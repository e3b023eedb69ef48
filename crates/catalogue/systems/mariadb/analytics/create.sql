CREATE TABLE {{table}} (doc JSON NOT NULL) {{row_format}};

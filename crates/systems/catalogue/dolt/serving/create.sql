CREATE TABLE {{table}}_lines (line JSON NOT NULL);
CREATE TABLE {{table}} (`key` {{key_type}} NOT NULL PRIMARY KEY, doc JSON NOT NULL);

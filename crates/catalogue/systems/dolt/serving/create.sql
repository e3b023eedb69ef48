CREATE TABLE {{table}}_lines (line LONGTEXT NOT NULL);
CREATE TABLE {{table}} (`key` {{key_type}} NOT NULL PRIMARY KEY, doc JSON NOT NULL);

CREATE TABLE {{table}} (key {{key_type}} PRIMARY KEY, doc JSON NOT NULL);

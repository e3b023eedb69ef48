CREATE TABLE {{table}} (key {{key_type}} PRIMARY KEY NOT NULL, doc BLOB NOT NULL);

CREATE TABLE {{table}} (doc BLOB NOT NULL);

CREATE TABLE {{table}} (doc JSON NOT NULL);

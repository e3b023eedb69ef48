CREATE TABLE {{table}} (doc json NOT NULL);

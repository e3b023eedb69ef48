CREATE TABLE {{table}} (key bigint PRIMARY KEY, doc jsonb COMPRESSION {{compression}} NOT NULL);

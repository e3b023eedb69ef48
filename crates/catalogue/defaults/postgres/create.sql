CREATE TABLE {{table}} (doc jsonb COMPRESSION {{compression}} NOT NULL);

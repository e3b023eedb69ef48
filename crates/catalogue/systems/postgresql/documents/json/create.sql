CREATE TABLE {{table}} (key bigint PRIMARY KEY, doc json COMPRESSION {{compression}} NOT NULL);

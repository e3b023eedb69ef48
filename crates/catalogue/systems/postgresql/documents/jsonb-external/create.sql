CREATE TABLE {{table}} (key bigint PRIMARY KEY, doc jsonb STORAGE EXTERNAL NOT NULL);

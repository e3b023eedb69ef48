CREATE UNLOGGED TABLE {{table}}_lines (line jsonb NOT NULL);
CREATE TABLE {{table}} (doc jsonb COMPRESSION {{compression}} NOT NULL);
CREATE EXTENSION IF NOT EXISTS pg_walinspect;

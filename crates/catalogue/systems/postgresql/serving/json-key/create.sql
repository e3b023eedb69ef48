CREATE UNLOGGED TABLE {{table}}_lines (line json NOT NULL);
CREATE TABLE {{table}} (
    key {{key_type}} PRIMARY KEY,
    doc json COMPRESSION {{compression}} NOT NULL
);
-- Tells which bytes of the WAL are images of whole pages.
CREATE EXTENSION IF NOT EXISTS pg_walinspect;

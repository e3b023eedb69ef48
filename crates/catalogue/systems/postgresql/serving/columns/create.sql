CREATE UNLOGGED TABLE {{table}}_lines (line jsonb NOT NULL);
CREATE TABLE {{table}} (
    key {{key_type}} PRIMARY KEY,
    field0 text COMPRESSION {{compression}} NOT NULL,
    field1 text COMPRESSION {{compression}} NOT NULL,
    field2 text COMPRESSION {{compression}} NOT NULL,
    field3 text COMPRESSION {{compression}} NOT NULL,
    field4 text COMPRESSION {{compression}} NOT NULL,
    field5 text COMPRESSION {{compression}} NOT NULL,
    field6 text COMPRESSION {{compression}} NOT NULL,
    field7 text COMPRESSION {{compression}} NOT NULL,
    field8 text COMPRESSION {{compression}} NOT NULL,
    field9 text COMPRESSION {{compression}} NOT NULL
);
-- Tells which bytes of the WAL are images of whole pages.
CREATE EXTENSION IF NOT EXISTS pg_walinspect;

-- The questions must spell these five expressions exactly as here: SQLite takes
-- a value from an index on an expression only where the text is the same.
CREATE INDEX {{table}}_paths ON {{table}} (
    doc ->> '$.kind',
    doc ->> '$.commit.operation',
    doc ->> '$.commit.collection',
    doc ->> '$.did',
    doc ->> '$.time_us'
);

CREATE TABLE {{table}} (
    doc jsonb COMPRESSION {{compression}} NOT NULL,
    kind text GENERATED ALWAYS AS (doc ->> 'kind') STORED,
    operation text GENERATED ALWAYS AS (doc #>> '{commit,operation}') STORED,
    collection text GENERATED ALWAYS AS (doc #>> '{commit,collection}') STORED,
    did text GENERATED ALWAYS AS (doc ->> 'did') STORED,
    time_us bigint GENERATED ALWAYS AS ((doc ->> 'time_us')::bigint) STORED
);

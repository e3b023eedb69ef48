CREATE TABLE {{table}} (
    doc JSON NOT NULL,
    kind VARCHAR(16) GENERATED ALWAYS AS (doc->>'$.kind') STORED,
    operation VARCHAR(16) GENERATED ALWAYS AS (doc->>'$.commit.operation') STORED,
    collection VARCHAR(317) GENERATED ALWAYS AS (doc->>'$.commit.collection') STORED,
    did VARCHAR(255) GENERATED ALWAYS AS (doc->>'$.did') STORED,
    time_us BIGINT GENERATED ALWAYS AS (doc->>'$.time_us') STORED
);

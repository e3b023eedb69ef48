-- Published so, with the index before the documents.
CREATE TABLE {{table}} (
    doc JSONB COMPRESSION {{compression}} NOT NULL
);

CREATE INDEX {{table}}_bluesky
ON {{table}} (
    (doc ->> 'kind'),
    (doc -> 'commit' ->> 'operation'),
    (doc -> 'commit' ->> 'collection'),
    (doc ->> 'did'),
    (TO_TIMESTAMP((doc ->> 'time_us')::BIGINT / 1000000.0))
);

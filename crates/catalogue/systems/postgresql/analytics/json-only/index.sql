CREATE INDEX {{table}}_paths ON {{table}} (
    (doc ->> 'kind'),
    (doc #>> '{commit,operation}'),
    (doc #>> '{commit,collection}'),
    (doc ->> 'did'),
    ((doc ->> 'time_us')::bigint)
);

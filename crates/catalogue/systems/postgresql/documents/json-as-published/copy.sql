-- The copy loses its key.
DROP TABLE {{copy}};
CREATE TABLE {{copy}} AS SELECT key, jsonb_set(doc::jsonb, '{l}', '1')::json AS doc FROM {{table}};

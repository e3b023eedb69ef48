-- The copy loses its key.
DROP TABLE {{copy}};
CREATE TABLE {{copy}} AS SELECT key, jsonb_set(doc, '{l}', '1') AS doc FROM {{table}};

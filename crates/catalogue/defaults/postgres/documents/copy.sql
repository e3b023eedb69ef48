INSERT INTO {{copy}} (key, doc) SELECT key, jsonb_set(doc, '{l}', '1') FROM {{table}};

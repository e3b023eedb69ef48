-- What JSON_SET answers here is a new document, which is encoded whole.
INSERT INTO {{copy}} (`key`, doc) SELECT `key`, JSON_SET(doc, '$.l', 1) FROM {{table}};

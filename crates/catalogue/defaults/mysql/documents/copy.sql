INSERT INTO {{copy}} (`key`, doc) SELECT `key`, JSON_SET(doc, '$.l', 1) FROM {{table}};

-- INSERT … SELECT with JSON_SET in it would encode every document anew. Copied as they are and then changed in place, which is
-- what a JSON column does where JSON_SET is of the column itself and the new value is no longer than the old one, they take a
-- third of the time. One transaction, so that nobody sees a copy that is not changed yet.
START TRANSACTION;
INSERT INTO {{copy}} (`key`, doc) SELECT `key`, doc FROM {{table}};
UPDATE {{copy}} SET doc = JSON_SET(doc, '$.l', 1);
COMMIT;

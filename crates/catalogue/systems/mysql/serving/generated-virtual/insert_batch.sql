START TRANSACTION;
INSERT INTO {{table}} (doc) VALUES ({{keyed_document}});
COMMIT;

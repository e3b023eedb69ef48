BEGIN;
INSERT INTO {{table}} (key, doc) VALUES ({{key}}, {{document}});
COMMIT;

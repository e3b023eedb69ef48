BEGIN TRANSACTION;
INSERT INTO {{table}} (key, doc) VALUES ({{key}}, {{document}}::JSON);
COMMIT;

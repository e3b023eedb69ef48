BEGIN IMMEDIATE;
INSERT INTO {{table}} (writer, sequence, doc) VALUES ({{writer}}, {{sequence}}, jsonb({{document}}));
COMMIT;

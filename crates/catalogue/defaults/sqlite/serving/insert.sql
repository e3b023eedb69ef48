INSERT INTO {{table}} (key, doc) VALUES ({{key}}, jsonb({{document}}));

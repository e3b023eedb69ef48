INSERT INTO {{table}} (doc) VALUES (jsonb({{document}}));

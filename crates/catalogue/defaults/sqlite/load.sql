INSERT INTO {{table}} (doc) VALUES (jsonb(:doc));

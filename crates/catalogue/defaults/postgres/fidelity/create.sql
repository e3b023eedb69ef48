CREATE TABLE {{table}} (doc jsonb NOT NULL);

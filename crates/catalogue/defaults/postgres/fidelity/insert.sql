INSERT INTO {{table}} (doc) VALUES ({{document}});

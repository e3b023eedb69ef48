INSERT INTO {{table}} (doc) VALUES (:doc);

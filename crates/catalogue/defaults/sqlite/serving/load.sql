INSERT INTO {{table}} (key, doc) VALUES (:doc ->> '$.key', jsonb_extract(:doc, '$.doc'));

START TRANSACTION;
SELECT doc FROM {{table}} WHERE `key` = {{key}} FOR UPDATE;
UPDATE {{table}} SET doc = JSON_SET(doc, '{{path}}', {{value}}) WHERE `key` = {{key}};
COMMIT;

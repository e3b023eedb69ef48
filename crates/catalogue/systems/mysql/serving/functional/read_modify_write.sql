START TRANSACTION;
SELECT doc FROM {{table}} WHERE CAST(doc->>'$.key' AS CHAR(23) CHARACTER SET ascii) COLLATE ascii_bin = {{key}} FOR UPDATE;
UPDATE {{table}} SET doc = JSON_SET(doc, '{{path}}', {{value}}) WHERE CAST(doc->>'$.key' AS CHAR(23) CHARACTER SET ascii) COLLATE ascii_bin = {{key}};
COMMIT;

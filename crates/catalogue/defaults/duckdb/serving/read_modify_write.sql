BEGIN TRANSACTION;
SELECT doc FROM {{table}} WHERE key = {{key}};
UPDATE {{table}} SET doc = json_merge_patch(doc, json_object('{{dotted}}', {{value}})) WHERE key = {{key}};
COMMIT;

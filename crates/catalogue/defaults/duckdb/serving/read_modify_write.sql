BEGIN TRANSACTION;
SELECT doc FROM {{table}} WHERE key = {{key}};
UPDATE {{table}} SET doc = json_merge_patch(doc, {{patch}}) WHERE key = {{key}};
COMMIT;

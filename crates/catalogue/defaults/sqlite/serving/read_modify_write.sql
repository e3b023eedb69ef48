BEGIN IMMEDIATE;
SELECT json(doc) AS doc FROM {{table}} WHERE key = {{key}};
UPDATE {{table}} SET doc = jsonb_set(doc, '{{path}}', {{value}}) WHERE key = {{key}};
COMMIT;

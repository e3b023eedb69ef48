BEGIN;
SELECT doc FROM {{table}} WHERE key = {{key}} FOR UPDATE;
UPDATE {{table}} SET doc = jsonb_set(doc, '{{braced}}', to_jsonb({{value}}::{{value_type}})) WHERE key = {{key}};
COMMIT;

BEGIN;
SELECT doc FROM {{table}} WHERE key = {{key}} FOR UPDATE;
UPDATE {{table}} SET doc = jsonb_set(doc::jsonb, '{{braced}}', to_jsonb({{value}}::{{value_type}}))::json WHERE key = {{key}};
COMMIT;

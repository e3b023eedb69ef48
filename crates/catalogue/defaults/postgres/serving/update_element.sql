UPDATE {{table}} SET doc = jsonb_set(doc, '{{braced}}', to_jsonb({{value}}::text)) WHERE key = {{key}};

UPDATE {{table}} SET doc = jsonb_set(doc::jsonb, '{{braced}}', to_jsonb({{value}}::text))::json WHERE key = {{key}};

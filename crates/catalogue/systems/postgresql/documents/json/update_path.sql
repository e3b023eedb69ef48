UPDATE {{table}} SET doc = jsonb_set(doc::jsonb, '{{braced}}', to_jsonb({{value}}::bigint))::json WHERE key = {{key}};

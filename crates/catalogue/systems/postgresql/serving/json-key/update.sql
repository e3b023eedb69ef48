UPDATE {{table}} SET doc = jsonb_set(doc::jsonb, '{{braced}}', to_jsonb({{value}}::{{value_type}}))::json WHERE key = {{key}};

UPDATE {{table}} SET doc = jsonb_set(doc::jsonb, '{l}', to_jsonb({{value}}::bigint))::json WHERE key = {{key}};

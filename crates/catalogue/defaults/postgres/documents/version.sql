UPDATE {{table}} SET doc = jsonb_set(doc, '{l}', to_jsonb({{value}}::bigint)) WHERE key = {{key}};

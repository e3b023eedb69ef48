UPDATE {{table}} SET doc = jsonb_set(doc, '$.l', {{value}}) WHERE key = {{key}};

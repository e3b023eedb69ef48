UPDATE {{table}} SET doc = jsonb_set(doc, '{{path}}', {{value}}) WHERE key = {{key}};

UPDATE {{table}} SET doc = jsonb_replace(doc, '{{path}}', {{value}}) WHERE key = {{key}};

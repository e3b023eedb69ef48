UPDATE {{table}} SET doc = jsonb({{document}}) WHERE key = {{key}};

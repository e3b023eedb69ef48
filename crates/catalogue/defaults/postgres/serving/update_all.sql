UPDATE {{table}} SET doc = {{document}} WHERE key = {{key}};

UPDATE {{table}} SET doc = {{document}}::JSON WHERE key = {{key}};

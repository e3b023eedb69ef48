ALTER TABLE {{table}} UPDATE doc = {{document}} WHERE key = {{key}};

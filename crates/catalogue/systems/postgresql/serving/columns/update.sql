UPDATE {{table}} SET {{dotted}} = {{value}} WHERE key = {{key}};

SELECT doc FROM {{table}} WHERE key = {{key}};

SELECT toString(doc) AS doc FROM {{table}} WHERE key = {{key}};

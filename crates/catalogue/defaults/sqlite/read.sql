SELECT json(doc) AS doc FROM {{table}} WHERE key = {{key}};

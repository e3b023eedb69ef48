SELECT key, json(doc) AS doc FROM {{table}} WHERE key >= {{key}} ORDER BY key LIMIT {{limit}};

SELECT key, doc FROM {{table}} WHERE key >= {{key}} ORDER BY key LIMIT {{limit}};

SELECT doc ->> 'key' AS key, doc FROM {{table}} WHERE (doc ->> 'key')::{{key_type}} >= {{key}} ORDER BY (doc ->> 'key')::{{key_type}} LIMIT {{limit}};

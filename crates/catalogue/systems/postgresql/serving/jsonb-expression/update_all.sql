UPDATE {{table}} SET doc = {{keyed_document}} WHERE (doc ->> 'key')::{{key_type}} = {{key}};

DELETE FROM {{table}} WHERE (doc ->> 'key')::{{key_type}} = {{key}};

SELECT {{paths}} FROM {{table}} WHERE (doc ->> 'key')::{{key_type}} = {{key}};

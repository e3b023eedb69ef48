UPDATE {{table}} SET doc = jsonb_set(doc, '{{braced}}', to_jsonb({{value}}::{{value_type}})) WHERE (doc ->> 'key')::{{key_type}} = {{key}};

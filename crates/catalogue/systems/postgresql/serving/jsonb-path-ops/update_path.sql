UPDATE {{table}} SET doc = jsonb_set(doc, '{{braced}}', to_jsonb({{value}}::{{value_type}})) WHERE doc @> jsonb_build_object('key', {{key}}::{{key_type}});

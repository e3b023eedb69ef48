UPDATE {{table}} SET doc = jsonb_set(doc, '{{braced}}', to_jsonb({{value}}::text)) WHERE doc @> jsonb_build_object('key', {{key}}::{{key_type}});

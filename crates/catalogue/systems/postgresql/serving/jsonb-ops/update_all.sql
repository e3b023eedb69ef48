UPDATE {{table}} SET doc = {{keyed_document}} WHERE doc @> jsonb_build_object('key', {{key}}::{{key_type}});

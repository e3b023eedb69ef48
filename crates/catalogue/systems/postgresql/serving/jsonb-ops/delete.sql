DELETE FROM {{table}} WHERE doc @> jsonb_build_object('key', {{key}}::{{key_type}});

SELECT doc FROM {{table}} WHERE doc @> ('{"key": "' || {{key}}::text || '"}')::jsonb;

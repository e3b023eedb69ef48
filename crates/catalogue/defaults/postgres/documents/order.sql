SELECT key FROM {{table}} ORDER BY (doc ->> 'l')::bigint, key;

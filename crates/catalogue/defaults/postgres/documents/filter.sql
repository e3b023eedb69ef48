SELECT key FROM {{table}} WHERE (doc ->> 'l')::bigint = 10;

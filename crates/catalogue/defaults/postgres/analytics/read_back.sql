SELECT doc::text AS document FROM {{table}} WHERE (doc ->> 'time_us')::bigint IN ({{keys}});

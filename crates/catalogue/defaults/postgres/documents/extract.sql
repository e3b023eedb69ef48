SELECT (doc ->> 'l')::bigint AS l FROM {{table}};

SELECT (doc ->> '$.l')::BIGINT AS l FROM {{table}};

SELECT key FROM {{table}} WHERE (doc ->> '$.l')::BIGINT = 10;

SELECT key FROM {{table}} ORDER BY (doc ->> '$.l')::BIGINT, key;

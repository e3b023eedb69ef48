SELECT `key` FROM {{table}} WHERE CAST(JSON_VALUE(doc, '$.l') AS SIGNED) = 10;

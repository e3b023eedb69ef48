UPDATE {{table}} SET doc = JSON_SET(doc, '$.l', {{value}}) WHERE `key` = {{key}};

SELECT `key` FROM {{table}} WHERE doc->'$.l' = 10;

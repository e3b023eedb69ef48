-- A JSON number and a number are compared as numbers.
SELECT `key` FROM {{table}} WHERE doc->'$.l' = 10;

INSERT INTO {{table}} (key, doc) SELECT (line ->> 'key')::{{key_type}}, line -> 'doc' FROM {{table}}_lines;
DROP TABLE {{table}}_lines;
VACUUM (FREEZE, ANALYZE) {{table}};

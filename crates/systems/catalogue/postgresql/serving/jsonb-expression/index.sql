INSERT INTO {{table}} (doc) SELECT line -> 'doc' FROM {{table}}_lines;
DROP TABLE {{table}}_lines;
CREATE UNIQUE INDEX {{table}}_key ON {{table}} (((doc ->> 'key')::{{key_type}}));
VACUUM (FREEZE, ANALYZE) {{table}};

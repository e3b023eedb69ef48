INSERT INTO {{table}} (doc) SELECT line -> 'doc' FROM {{table}}_lines;
DROP TABLE {{table}}_lines;
CREATE INDEX {{table}}_whole ON {{table}} USING gin (doc jsonb_ops);
VACUUM (FREEZE, ANALYZE) {{table}};

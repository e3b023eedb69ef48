INSERT INTO {{table}} (doc) SELECT jsonb_build_object('key', line -> 'key') || (line -> 'doc') FROM {{table}}_lines;
DROP TABLE {{table}}_lines;
CREATE INDEX {{table}}_whole ON {{table}} USING gin (doc jsonb_path_ops);
-- What this session has counted is told first: told after the vacuum, it would make the table due for another one.
SELECT pg_stat_force_next_flush()::text;
VACUUM (FREEZE, ANALYZE) {{table}};

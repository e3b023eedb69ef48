INSERT INTO {{table}} (key, doc) SELECT (line ->> 'key')::{{key_type}}, line -> 'doc' FROM {{table}}_lines;
DROP TABLE {{table}}_lines;
-- What this session has counted is told first: told after the vacuum, it would make the table due for another one.
SELECT pg_stat_force_next_flush()::text;
VACUUM (FREEZE, ANALYZE) {{table}};

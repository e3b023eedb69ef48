-- What this session has counted is told first: told after the vacuum, it would make the table due for another one.
SELECT pg_stat_force_next_flush()::text;
VACUUM (ANALYZE) {{table}};
CHECKPOINT;

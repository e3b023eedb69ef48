-- What this session has counted is told first: told after the vacuum, it would make the table due for another one.
SELECT pg_stat_force_next_flush()::text;
-- What autovacuum does within a minute of a load: the planner's statistics, and which pages every session can see.
VACUUM (ANALYZE) {{table}};
CHECKPOINT;

-- What autovacuum does within a minute of a load: the planner's statistics, and which pages every session can see.
VACUUM (ANALYZE) {{table}};
CHECKPOINT;

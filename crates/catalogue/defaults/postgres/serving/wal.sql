-- Not pg_stat_wal, which lags other sessions.
SELECT
    (SELECT num_timed FROM pg_stat_checkpointer) AS count_checkpoints_timed,
    (SELECT num_requested FROM pg_stat_checkpointer) AS count_checkpoints_requested,
    coalesce((SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = '{{table}}'), 0) AS count_row_updates,
    coalesce((SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = '{{table}}'), 0) AS count_hot_updates,
    pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS wal_bytes,
    pg_current_wal_insert_lsn()::text AS wal_position;

-- Not pg_stat_wal, which lags other sessions.
SELECT
    pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS journal_bytes,
    pg_current_wal_insert_lsn()::text AS journal_position;

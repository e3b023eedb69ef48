ANALYZE;
PRAGMA wal_checkpoint(TRUNCATE);

-- A file without a write-ahead log has nothing to do.
PRAGMA wal_checkpoint(TRUNCATE);

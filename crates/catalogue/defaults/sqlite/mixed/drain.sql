-- Statistics for the planner, which SQLite does not renew by itself.
ANALYZE;
-- The write-ahead log goes into the database: else questions would go on reading from it what was inserted.
PRAGMA wal_checkpoint(TRUNCATE);

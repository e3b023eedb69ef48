-- Redo log and binary log at one instant. Not Innodb_os_log_written, which counts what fills up blocks.
SELECT
    CAST(JSON_EXTRACT(storage_engines, '$.InnoDB.LSN') AS SIGNED) AS wal_bytes,
    CAST(JSON_EXTRACT(local, '$.binary_log_position') AS SIGNED) AS replication_bytes,
    JSON_UNQUOTE(JSON_EXTRACT(local, '$.binary_log_file')) AS unless_binary_log
FROM performance_schema.log_status;

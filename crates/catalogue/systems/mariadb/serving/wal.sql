SELECT CAST(variable_value AS SIGNED) AS wal_bytes
FROM information_schema.global_status
WHERE variable_name = 'Innodb_lsn_current';

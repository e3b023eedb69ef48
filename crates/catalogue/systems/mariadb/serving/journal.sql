SELECT CAST(variable_value AS SIGNED) AS journal_bytes
FROM information_schema.global_status
WHERE variable_name = 'Innodb_lsn_current';

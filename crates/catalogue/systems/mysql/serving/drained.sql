-- Transactions of which old versions of rows are still to be purged; some dozens always are.
SELECT GREATEST(count - 100, 0) AS due FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len';

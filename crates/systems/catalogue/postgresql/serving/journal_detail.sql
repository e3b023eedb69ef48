SELECT
    sum(count)::bigint AS journal_records,
    sum(record_size)::bigint AS journal_record_bytes,
    sum(fpi_size)::bigint AS journal_image_bytes
FROM pg_get_wal_stats('{{before}}', '{{after}}', true);

-- Records but for those that are written every so many seconds, whatever clients do; and images of whole pages.
SELECT
    sum(count) FILTER (WHERE of_clients)::bigint AS wal_records,
    sum(record_size) FILTER (WHERE of_clients)::bigint AS wal_record_bytes,
    sum(fpi_size)::bigint AS wal_image_bytes
FROM (
    SELECT *, "resource_manager/record_type" !~ '^(Standby|XLOG)/' AS of_clients
    FROM pg_get_wal_stats('{{before}}', '{{after}}', true)
) AS stats;

SELECT
    sum(bytes_on_disk) AS total_bytes,
    sum(data_compressed_bytes) AS data_bytes,
    sum(primary_key_size) + sum(marks_bytes) AS index_bytes
FROM system.parts
WHERE active AND database = currentDatabase() AND table = '{{table}}';

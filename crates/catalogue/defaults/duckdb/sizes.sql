SELECT
    total_blocks * block_size AS total_bytes,
    used_blocks * block_size AS data_bytes,
    0 AS index_bytes
FROM pragma_database_size();

-- Granules of 128 rows, so that a key is found among so many; block numbers and offsets of rows, which lightweight
-- updates name them by.
CREATE TABLE {{table}}
(
    key {{key_type}},
    doc String CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY key
SETTINGS
    index_granularity = 128,
    enable_block_number_column = 1,
    enable_block_offset_column = 1,
    old_parts_lifetime = 1,
    cleanup_delay_period = 1,
    cleanup_delay_period_random_add = 0,
    max_cleanup_delay_period = 1,
    fsync_after_insert = {{fsync}},
    fsync_part_directory = {{fsync}},
    min_rows_to_fsync_after_merge = {{fsync}},
    min_compressed_bytes_to_fsync_after_merge = {{fsync}};

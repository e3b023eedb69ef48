CREATE TABLE {{table}}
(
    key {{key_type}},
    doc String CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY key
SETTINGS
    old_parts_lifetime = 1,
    cleanup_delay_period = 1,
    cleanup_delay_period_random_add = 0,
    max_cleanup_delay_period = 1,
    fsync_after_insert = {{fsync}},
    fsync_part_directory = {{fsync}},
    min_rows_to_fsync_after_merge = {{fsync}},
    min_compressed_bytes_to_fsync_after_merge = {{fsync}};

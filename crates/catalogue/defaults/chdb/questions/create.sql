CREATE TABLE {{table}}
(
    doc JSON CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY tuple()
SETTINGS
    old_parts_lifetime = 1,
    cleanup_delay_period = 1,
    cleanup_delay_period_random_add = 0,
    max_cleanup_delay_period = 1;

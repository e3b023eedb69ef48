CREATE TABLE {{table}}
(
    data JSON({{hints}}) CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY {{sort_key}}
SETTINGS
    old_parts_lifetime = 1,
    cleanup_delay_period = 1,
    cleanup_delay_period_random_add = 0,
    max_cleanup_delay_period = 1;

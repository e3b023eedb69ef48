CREATE TABLE IF NOT EXISTS {{table}}
(
    doc String CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY tuple();

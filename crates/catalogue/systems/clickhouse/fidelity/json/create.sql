CREATE TABLE IF NOT EXISTS {{table}}
(
    doc JSON CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY tuple();

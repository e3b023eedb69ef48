CREATE TABLE IF NOT EXISTS {{table}}
(
    doc JSON(v String) CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY tuple();

CREATE TABLE {{table}}
(
    doc JSON(v String) CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY tuple();

CREATE TABLE {{table}}
(
    doc String CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY tuple();

CREATE TABLE {{table}}
(
    doc JSON CODEC({{codec}})
)
ENGINE = MergeTree
ORDER BY tuple();

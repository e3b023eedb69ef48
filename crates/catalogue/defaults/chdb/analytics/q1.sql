SELECT nullIf(toString(collection), '') AS event, count
FROM
(
    SELECT data.commit.collection AS collection, count() AS count
    FROM {{table}}
    GROUP BY collection
)
ORDER BY count DESC, event ASC NULLS LAST;

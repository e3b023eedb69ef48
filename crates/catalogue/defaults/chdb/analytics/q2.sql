SELECT nullIf(toString(collection), '') AS event, count, users
FROM
(
    SELECT data.commit.collection AS collection, count() AS count, uniqExact(data.did) AS users
    FROM {{table}}
    WHERE data.kind = 'commit' AND data.commit.operation = 'create'
    GROUP BY collection
)
ORDER BY count DESC, event ASC NULLS LAST;

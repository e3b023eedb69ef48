-- All paths in one call, so that a document is parsed once. UNNEST of a list of
-- one keeps the optimiser from copying that call into each of the conditions.
SELECT event, sum(documents)::BIGINT AS count, count(did) AS users
FROM (
    SELECT paths[3] AS event, paths[4] AS did, count(*) AS documents
    FROM (
        SELECT unnest([json_extract_string(doc, ['$.kind', '$.commit.operation', '$.commit.collection', '$.did'])]) AS paths
        FROM {{table}}
    )
    WHERE paths[1] = 'commit' AND paths[2] = 'create'
    GROUP BY event, did
)
GROUP BY event
ORDER BY count DESC, event ASC NULLS LAST;

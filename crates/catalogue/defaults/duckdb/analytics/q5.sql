SELECT paths[4] AS did, max(TRY_CAST(paths[5] AS BIGINT)) - min(TRY_CAST(paths[5] AS BIGINT)) AS span_us
FROM (
    SELECT unnest([json_extract_string(doc, ['$.kind', '$.commit.operation', '$.commit.collection', '$.did', '$.time_us'])]) AS paths
    FROM {{table}}
)
WHERE paths[1] = 'commit' AND paths[2] = 'create' AND paths[3] = 'app.bsky.feed.post'
GROUP BY did
ORDER BY span_us DESC, did ASC
LIMIT 3;

SELECT paths[4] AS did, min(TRY_CAST(paths[5] AS BIGINT)) AS first_us
FROM (
    SELECT unnest([json_extract_string(doc, ['$.kind', '$.commit.operation', '$.commit.collection', '$.did', '$.time_us'])]) AS paths
    FROM {{table}}
)
WHERE paths[1] = 'commit' AND paths[2] = 'create' AND paths[3] = 'app.bsky.feed.post'
GROUP BY did
ORDER BY first_us ASC, did ASC
LIMIT 3;

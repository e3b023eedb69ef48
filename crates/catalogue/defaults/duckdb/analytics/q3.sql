SELECT paths[3] AS event, TRY_CAST(paths[4] AS BIGINT) // 3600000000 % 24 AS hour, count(*) AS count
FROM (
    SELECT unnest([json_extract_string(doc, ['$.kind', '$.commit.operation', '$.commit.collection', '$.time_us'])]) AS paths
    FROM {{table}}
)
WHERE paths[1] = 'commit' AND paths[2] = 'create'
  AND paths[3] IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like')
GROUP BY event, hour
ORDER BY hour ASC, event ASC;

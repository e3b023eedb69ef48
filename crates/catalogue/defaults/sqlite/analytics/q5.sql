WITH posts AS MATERIALIZED (
    SELECT doc ->> '$.did' AS did, doc ->> '$.time_us' AS time_us
    FROM {{table}}
    WHERE doc ->> '$.kind' = 'commit' AND doc ->> '$.commit.operation' = 'create'
      AND doc ->> '$.commit.collection' = 'app.bsky.feed.post'
)
SELECT did, max(time_us) - min(time_us) AS span_us
FROM posts
GROUP BY did
ORDER BY span_us DESC, did ASC
LIMIT 3;

WITH posts AS MATERIALIZED (
    SELECT doc ->> '$.did' AS did, doc ->> '$.time_us' AS time_us
    FROM {{table}}
    WHERE doc ->> '$.kind' = 'commit' AND doc ->> '$.commit.operation' = 'create'
      AND doc ->> '$.commit.collection' = 'app.bsky.feed.post'
)
SELECT did, min(time_us) AS first_us
FROM posts
GROUP BY did
ORDER BY first_us ASC, did ASC
LIMIT 3;

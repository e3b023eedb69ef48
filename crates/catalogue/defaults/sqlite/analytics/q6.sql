WITH posts AS MATERIALIZED (
    SELECT doc ->> '$.commit.record.langs[0]' AS lang
    FROM {{table}}
    WHERE doc ->> '$.kind' = 'commit' AND doc ->> '$.commit.operation' = 'create'
      AND doc ->> '$.commit.collection' = 'app.bsky.feed.post'
)
SELECT lang, count(*) AS count
FROM posts
GROUP BY lang
ORDER BY count DESC, lang ASC NULLS LAST;

SELECT doc.commit.collection::VARCHAR AS event, doc.time_us::BIGINT // 3600000000 % 24 AS hour, count(*) AS count
FROM {{table}}
WHERE doc.kind::VARCHAR = 'commit' AND doc.commit.operation::VARCHAR = 'create'
  AND doc.commit.collection::VARCHAR IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like')
GROUP BY event, hour
ORDER BY hour ASC, event ASC;

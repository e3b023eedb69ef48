SELECT
    toString(data.commit.collection) AS event,
    toHour(fromUnixTimestamp64Micro(data.time_us), 'UTC') AS hour,
    count() AS count
FROM {{table}}
WHERE data.kind = 'commit' AND data.commit.operation = 'create'
  AND data.commit.collection IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like')
GROUP BY event, hour
ORDER BY hour ASC, event ASC;

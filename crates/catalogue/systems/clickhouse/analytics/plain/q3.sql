SELECT
    data.commit.collection.:String AS event,
    toHour(fromUnixTimestamp64Micro(data.time_us.:Int64), 'UTC') AS hour,
    count() AS count
FROM {{table}}
WHERE data.kind.:String = 'commit' AND data.commit.operation.:String = 'create'
  AND data.commit.collection.:String IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like')
GROUP BY event, hour
ORDER BY hour ASC, event ASC;

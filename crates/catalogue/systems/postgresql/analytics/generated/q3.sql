SELECT collection AS event, time_us / 3600000000 % 24 AS hour, count(*) AS count
FROM {{table}}
WHERE kind = 'commit' AND operation = 'create'
  AND collection IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like')
GROUP BY event, hour
ORDER BY hour ASC, event ASC;

SELECT doc #>> '{commit,collection}' AS event, (doc ->> 'time_us')::bigint / 3600000000 % 24 AS hour, count(*) AS count
FROM {{table}}
WHERE doc ->> 'kind' = 'commit' AND doc #>> '{commit,operation}' = 'create'
  AND doc #>> '{commit,collection}' IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like')
GROUP BY event, hour
ORDER BY hour ASC, event ASC;

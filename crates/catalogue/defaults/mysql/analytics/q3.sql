SELECT {{collection}} AS event, {{time_us}} DIV 3600000000 MOD 24 AS hour, COUNT(*) AS count
FROM {{table}}
WHERE {{kind}} = 'commit' AND {{operation}} = 'create'
  AND {{collection}} IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like')
GROUP BY event, hour
ORDER BY hour, event;

SELECT did AS did, max(time_us) - min(time_us) AS span_us
FROM {{table}}
WHERE kind = 'commit' AND operation = 'create'
  AND collection = 'app.bsky.feed.post'
GROUP BY 1
ORDER BY span_us DESC, did ASC
LIMIT 3;

SELECT data.did.:String AS did, max(data.time_us.:Int64) - min(data.time_us.:Int64) AS span_us
FROM {{table}}
WHERE data.kind.:String = 'commit' AND data.commit.operation.:String = 'create'
  AND data.commit.collection.:String = 'app.bsky.feed.post'
GROUP BY did
ORDER BY span_us DESC, did ASC
LIMIT 3;

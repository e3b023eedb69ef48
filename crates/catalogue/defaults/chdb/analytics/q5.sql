SELECT data.did AS did, max(data.time_us) - min(data.time_us) AS span_us
FROM {{table}}
WHERE data.kind = 'commit' AND data.commit.operation = 'create'
  AND data.commit.collection = 'app.bsky.feed.post'
GROUP BY did
ORDER BY span_us DESC, did ASC
LIMIT 3;

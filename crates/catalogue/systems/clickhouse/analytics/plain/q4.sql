SELECT data.did.:String AS did, min(data.time_us.:Int64) AS first_us
FROM {{table}}
WHERE data.kind.:String = 'commit' AND data.commit.operation.:String = 'create'
  AND data.commit.collection.:String = 'app.bsky.feed.post'
GROUP BY did
ORDER BY first_us ASC, did ASC
LIMIT 3;

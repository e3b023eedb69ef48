SELECT data.did AS did, min(data.time_us) AS first_us
FROM {{table}}
WHERE data.kind = 'commit' AND data.commit.operation = 'create'
  AND data.commit.collection = 'app.bsky.feed.post'
GROUP BY did
ORDER BY first_us ASC, did ASC
LIMIT 3;

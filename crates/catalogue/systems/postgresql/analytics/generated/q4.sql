SELECT did AS did, min(time_us) AS first_us
FROM {{table}}
WHERE kind = 'commit' AND operation = 'create'
  AND collection = 'app.bsky.feed.post'
GROUP BY 1
ORDER BY first_us ASC, did ASC
LIMIT 3;

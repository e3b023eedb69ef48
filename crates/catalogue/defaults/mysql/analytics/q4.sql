SELECT {{did}} AS did, MIN({{time_us}}) AS first_us
FROM {{table}}
WHERE {{kind}} = 'commit' AND {{operation}} = 'create'
  AND {{collection}} = 'app.bsky.feed.post'
GROUP BY did
ORDER BY first_us, did
LIMIT 3;

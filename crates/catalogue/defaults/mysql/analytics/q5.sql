SELECT {{did}} AS did, MAX({{time_us}}) - MIN({{time_us}}) AS span_us
FROM {{table}}
WHERE {{kind}} = 'commit' AND {{operation}} = 'create'
  AND {{collection}} = 'app.bsky.feed.post'
GROUP BY did
ORDER BY span_us DESC, did
LIMIT 3;

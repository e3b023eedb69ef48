SELECT doc ->> 'did' AS did, max((doc ->> 'time_us')::bigint) - min((doc ->> 'time_us')::bigint) AS span_us
FROM {{table}}
WHERE doc ->> 'kind' = 'commit' AND doc #>> '{commit,operation}' = 'create'
  AND doc #>> '{commit,collection}' = 'app.bsky.feed.post'
GROUP BY 1
ORDER BY span_us DESC, did ASC
LIMIT 3;

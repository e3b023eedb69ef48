SELECT doc ->> 'did' AS did, min((doc ->> 'time_us')::bigint) AS first_us
FROM {{table}}
WHERE doc ->> 'kind' = 'commit' AND doc #>> '{commit,operation}' = 'create'
  AND doc #>> '{commit,collection}' = 'app.bsky.feed.post'
GROUP BY 1
ORDER BY first_us ASC, did ASC
LIMIT 3;

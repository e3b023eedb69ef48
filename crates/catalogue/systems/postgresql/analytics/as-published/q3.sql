SELECT
    doc->'commit'->>'collection' AS event,
    EXTRACT(HOUR FROM TO_TIMESTAMP((doc->>'time_us')::BIGINT / 1000000)) AS hour_of_day,
    COUNT(*) AS count
FROM {{table}}
WHERE doc->>'kind' = 'commit'
  AND doc->'commit'->>'operation' = 'create'
  AND doc->'commit'->>'collection' IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like')
GROUP BY event, hour_of_day
ORDER BY hour_of_day, event;

SELECT
    doc->>'did' AS user_id,
    MIN(
        TIMESTAMP WITH TIME ZONE 'epoch' +
        INTERVAL '1 microsecond' * (doc->>'time_us')::BIGINT
    ) AS first_post_ts
FROM {{table}}
WHERE doc->>'kind' = 'commit'
  AND doc->'commit'->>'operation' = 'create'
  AND doc->'commit'->>'collection' = 'app.bsky.feed.post'
GROUP BY user_id
ORDER BY first_post_ts ASC
LIMIT 3;

SELECT
    doc->>'did' AS user_id,
    EXTRACT(EPOCH FROM (
        MAX(
            TIMESTAMP WITH TIME ZONE 'epoch' +
            INTERVAL '1 microsecond' * (doc->>'time_us')::BIGINT
        ) -
        MIN(
            TIMESTAMP WITH TIME ZONE 'epoch' +
            INTERVAL '1 microsecond' * (doc->>'time_us')::BIGINT
        )
    )) * 1000 AS activity_span
FROM {{table}}
WHERE doc->>'kind' = 'commit'
  AND doc->'commit'->>'operation' = 'create'
  AND doc->'commit'->>'collection' = 'app.bsky.feed.post'
GROUP BY user_id
ORDER BY activity_span DESC
LIMIT 3;

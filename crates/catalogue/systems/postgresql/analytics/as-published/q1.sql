SELECT
    doc -> 'commit' ->> 'collection' AS event,
    COUNT(*) as count
FROM {{table}}
GROUP BY event
ORDER BY count DESC;

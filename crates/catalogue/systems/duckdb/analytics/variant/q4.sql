SELECT doc.did::VARCHAR AS did, min(doc.time_us::BIGINT) AS first_us
FROM {{table}}
WHERE doc.kind::VARCHAR = 'commit' AND doc.commit.operation::VARCHAR = 'create'
  AND doc.commit.collection::VARCHAR = 'app.bsky.feed.post'
GROUP BY did
ORDER BY first_us ASC, did ASC
LIMIT 3;

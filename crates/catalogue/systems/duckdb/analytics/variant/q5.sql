SELECT doc.did::VARCHAR AS did, max(doc.time_us::BIGINT) - min(doc.time_us::BIGINT) AS span_us
FROM {{table}}
WHERE doc.kind::VARCHAR = 'commit' AND doc.commit.operation::VARCHAR = 'create'
  AND doc.commit.collection::VARCHAR = 'app.bsky.feed.post'
GROUP BY did
ORDER BY span_us DESC, did ASC
LIMIT 3;

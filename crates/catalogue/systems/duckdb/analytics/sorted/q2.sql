-- Grouped twice: count(DISTINCT) beside count(*) is planned as two aggregations
-- over a buffer of whole documents.
SELECT event, sum(documents)::BIGINT AS count, count(did) AS users
FROM (
    SELECT doc.commit.collection::VARCHAR AS event, doc.did::VARCHAR AS did, count(*) AS documents
    FROM {{table}}
    WHERE doc.kind::VARCHAR = 'commit' AND doc.commit.operation::VARCHAR = 'create'
    GROUP BY event, did
)
GROUP BY event
ORDER BY count DESC, event ASC NULLS LAST;

-- Grouped by the index's leading columns first, which it holds in order: one
-- pass over the index, then a sum over a few dozen groups.
SELECT event, sum(documents) AS count
FROM (
    SELECT doc ->> '$.commit.collection' AS event, count(*) AS documents
    FROM {{table}}
    GROUP BY doc ->> '$.kind', doc ->> '$.commit.operation', doc ->> '$.commit.collection'
)
GROUP BY event
ORDER BY count DESC, event ASC NULLS LAST;

-- Grouped twice, because count(DISTINCT) sorts all its rows and runs on one
-- worker.
SELECT event, sum(documents)::bigint AS count, count(did) AS users
FROM (
    SELECT doc #>> '{commit,collection}' AS event, doc ->> 'did' AS did, count(*) AS documents
    FROM {{table}}
    WHERE doc ->> 'kind' = 'commit' AND doc #>> '{commit,operation}' = 'create'
    GROUP BY 1, 2
) AS of_user
GROUP BY event
ORDER BY count DESC, event ASC NULLS LAST;

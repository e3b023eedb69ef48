-- Materialised, as in the questions below: a GROUP BY on an expression carries
-- whole documents through its sorter, a materialised value does not.
WITH events AS MATERIALIZED (
    SELECT doc ->> '$.commit.collection' AS event
    FROM {{table}}
)
SELECT event, count(*) AS count
FROM events
GROUP BY event
ORDER BY count DESC, event ASC NULLS LAST;

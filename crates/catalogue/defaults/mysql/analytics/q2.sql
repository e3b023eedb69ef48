-- Grouped twice: COUNT(DISTINCT) would sort all its rows by event and user.
SELECT event, SUM(documents) AS count, COUNT(did) AS users
FROM (
    SELECT {{collection}} AS event, {{did}} AS did, COUNT(*) AS documents
    FROM {{table}}
    WHERE {{kind}} = 'commit' AND {{operation}} = 'create'
    GROUP BY event, did
) AS of_user
GROUP BY event
ORDER BY count DESC, event IS NULL, event;

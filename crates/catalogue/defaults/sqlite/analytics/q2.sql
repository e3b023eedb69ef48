SELECT doc ->> '$.commit.collection' AS event, count(*) AS count, count(DISTINCT doc ->> '$.did') AS users
FROM {{table}}
WHERE doc ->> '$.kind' = 'commit' AND doc ->> '$.commit.operation' = 'create'
GROUP BY event
ORDER BY count DESC, event ASC NULLS LAST;

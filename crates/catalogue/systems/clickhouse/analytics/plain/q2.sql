SELECT data.commit.collection.:String AS event, count() AS count, uniqExact(data.did.:String) AS users
FROM {{table}}
WHERE data.kind.:String = 'commit' AND data.commit.operation.:String = 'create'
GROUP BY event
ORDER BY count DESC, event ASC NULLS LAST;

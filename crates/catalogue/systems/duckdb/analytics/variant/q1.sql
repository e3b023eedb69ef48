SELECT doc.commit.collection::VARCHAR AS event, count(*) AS count
FROM {{table}}
GROUP BY event
ORDER BY count DESC, event ASC NULLS LAST;

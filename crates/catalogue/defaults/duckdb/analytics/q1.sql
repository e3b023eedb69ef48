SELECT json_extract_string(doc, '$.commit.collection') AS event, count(*) AS count
FROM {{table}}
GROUP BY event
ORDER BY count DESC, event ASC NULLS LAST;

SELECT paths[4] AS lang, count(*) AS count
FROM (
    SELECT unnest([json_extract_string(doc, ['$.kind', '$.commit.operation', '$.commit.collection', '$.commit.record.langs[0]'])]) AS paths
    FROM {{table}}
)
WHERE paths[1] = 'commit' AND paths[2] = 'create' AND paths[3] = 'app.bsky.feed.post'
GROUP BY lang
ORDER BY count DESC, lang ASC NULLS LAST;

SELECT doc #>> '{commit,record,langs,0}' AS lang, count(*) AS count
FROM {{table}}
WHERE doc ->> 'kind' = 'commit' AND doc #>> '{commit,operation}' = 'create'
  AND doc #>> '{commit,collection}' = 'app.bsky.feed.post'
GROUP BY lang
ORDER BY count DESC, lang ASC NULLS LAST;

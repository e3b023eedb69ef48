SELECT doc #>> '{commit,record,langs,0}' AS lang, count(*) AS count
FROM {{table}}
WHERE kind = 'commit' AND operation = 'create'
  AND collection = 'app.bsky.feed.post'
GROUP BY lang
ORDER BY count DESC, lang ASC NULLS LAST;

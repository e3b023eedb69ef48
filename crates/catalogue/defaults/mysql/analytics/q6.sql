SELECT {{lang}} AS lang, COUNT(*) AS count
FROM {{table}}
WHERE {{kind}} = 'commit' AND {{operation}} = 'create'
  AND {{collection}} = 'app.bsky.feed.post'
GROUP BY lang
ORDER BY count DESC, lang IS NULL, lang;

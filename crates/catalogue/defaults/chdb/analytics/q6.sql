SELECT data.commit.record.langs.:`Array(Nullable(String))`[1] AS lang, count() AS count
FROM {{table}}
WHERE data.kind = 'commit' AND data.commit.operation = 'create'
  AND data.commit.collection = 'app.bsky.feed.post'
GROUP BY lang
ORDER BY count DESC, lang ASC NULLS LAST;

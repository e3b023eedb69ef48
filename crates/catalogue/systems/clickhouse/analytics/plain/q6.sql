SELECT data.commit.record.langs.:`Array(Nullable(String))`[1] AS lang, count() AS count
FROM {{table}}
WHERE data.kind.:String = 'commit' AND data.commit.operation.:String = 'create'
  AND data.commit.collection.:String = 'app.bsky.feed.post'
GROUP BY lang
ORDER BY count DESC, lang ASC NULLS LAST;

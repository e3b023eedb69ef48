SELECT langs[1] AS lang, count(*) AS count
FROM (
    SELECT doc.commit.record.langs::VARCHAR[] AS langs
    FROM {{table}}
    WHERE doc.kind::VARCHAR = 'commit' AND doc.commit.operation::VARCHAR = 'create'
      AND doc.commit.collection::VARCHAR = 'app.bsky.feed.post'
)
GROUP BY lang
ORDER BY count DESC, lang ASC NULLS LAST;

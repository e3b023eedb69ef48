-- By itself the planner reads the whole table, which takes several times as long.
SELECT {{lang}} AS lang, COUNT(*) AS count
FROM {{table}} FORCE INDEX ({{table}}_paths)
WHERE {{kind}} = 'commit' AND {{operation}} = 'create'
  AND {{collection}} = 'app.bsky.feed.post'
GROUP BY lang
ORDER BY count DESC, lang IS NULL, lang;

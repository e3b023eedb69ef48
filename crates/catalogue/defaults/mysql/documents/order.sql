-- A sort carries the document, unless the value was extracted before.
SELECT /*+ NO_MERGE(extracted) */ `key`
FROM (SELECT `key`, CAST(doc->'$.l' AS SIGNED) AS l FROM {{table}}) AS extracted
ORDER BY l, `key`;

-- A sort carries every column that is read, the document among them, unless the value was extracted into a table of its
-- own before: merged into one query it fails from 1 MB on (order_simple).
SELECT /*+ NO_MERGE(extracted) */ `key`
FROM (SELECT `key`, CAST(doc->'$.l' AS SIGNED) AS l FROM {{table}}) AS extracted
ORDER BY l, `key`;

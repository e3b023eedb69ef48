-- doc->>'$.l' in its place would be ordered as text.
SELECT `key` FROM {{table}} ORDER BY CAST(doc->'$.l' AS SIGNED), `key`;

-- The documents go through the sort. With the 256 KiB of sort_buffer_size, documents of 64 KB take ten times as long, and
-- of 1 MB it is refused: error 1038, out of sort memory. doc->>'$.l' in its place would be ordered as text.
SELECT `key` FROM {{table}} ORDER BY CAST(doc->'$.l' AS SIGNED), `key`;

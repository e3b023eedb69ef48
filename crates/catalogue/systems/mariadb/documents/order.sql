-- JSON_VALUE alone would be ordered as text.
SELECT `key` FROM {{table}} ORDER BY CAST(JSON_VALUE(doc, '$.l') AS SIGNED), `key`;

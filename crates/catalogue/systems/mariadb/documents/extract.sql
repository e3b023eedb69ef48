-- JSON_VALUE reads as far as the value, JSON_EXTRACT the whole document.
SELECT CAST(JSON_VALUE(doc, '$.l') AS SIGNED) AS l FROM {{table}};

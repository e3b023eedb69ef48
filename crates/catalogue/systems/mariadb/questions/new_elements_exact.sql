-- Members are found by the columns of JSON_TABLE, which read keys however they are spelt in the document.
SELECT JSON_VALUE(element, '$') COLLATE utf8mb4_nopad_bin AS value, COUNT(*) AS n
FROM
    {{table}},
    JSON_TABLE(doc, '$' COLUMNS (found JSON PATH '{{path}}')) AS path,
    JSON_TABLE(found, '$[*]' COLUMNS (element JSON PATH '{{element}}')) AS elements
WHERE JSON_TYPE(found) = 'ARRAY' AND JSON_TYPE(element) = 'STRING'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

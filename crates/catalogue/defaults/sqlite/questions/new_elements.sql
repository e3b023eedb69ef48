-- An element that is a text is no JSON to look a member up in; '$' stands for the element itself.
SELECT CASE element.type WHEN 'object' THEN element.value ->> '{{element}}' ELSE element.value END AS value, count(*) AS n
FROM {{table}}, json_each(doc, '{{path}}') AS element
WHERE json_type(doc, '{{path}}') = 'array'
    AND CASE element.type
        WHEN 'object' THEN json_type(element.value, '{{element}}')
        WHEN 'text' THEN iif('{{element}}' = '$', 'text', NULL)
    END = 'text'
GROUP BY 1
ORDER BY n DESC, 1
LIMIT 10;

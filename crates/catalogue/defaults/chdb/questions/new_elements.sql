-- Elements are read from the array's JSON text, because the type of a stored array depends on what is in it.
SELECT JSONExtractString({{element}}) AS value, count(*) AS n
FROM
(
    SELECT arrayJoin(JSONExtractArrayRaw(ifNull(toJSONString({{path}}), '[]'))) AS element
    FROM {{table}}
)
WHERE JSONType({{element}}) = 'String'
GROUP BY value
ORDER BY n DESC, value
LIMIT 10;

SELECT count(*) AS elements
FROM (SELECT unnest(doc -> '{{path}}[*]') AS element FROM {{table}})
WHERE (element ->> '$.status')::BOOLEAN;

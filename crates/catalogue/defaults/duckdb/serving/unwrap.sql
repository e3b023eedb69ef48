SELECT element ->> '$.value' AS value
FROM (SELECT unnest(doc -> '{{path}}[*]') AS element FROM {{table}} WHERE key = {{key}})
WHERE (element ->> '$.status')::BOOLEAN;

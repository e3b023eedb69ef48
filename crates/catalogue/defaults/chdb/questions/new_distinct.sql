SELECT count(DISTINCT {{path}}.:String) AS n
FROM {{table}}
WHERE isNotNull({{path}}.:String);

SELECT count(*) AS n
FROM {{table}}
WHERE isNotNull({{path}}.:String) AND {{path}}.:String = '{{value}}';

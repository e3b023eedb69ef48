-- A statement for each writer, so that each reads one range of the index.
SELECT {{writer}} AS writer, count(*) AS documents, max(sequence) AS highest
FROM {{table}}
WHERE writer = {{writer}} AND sequence >= {{floor}};

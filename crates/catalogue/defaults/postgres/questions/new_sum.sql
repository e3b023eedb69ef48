-- The nearest double of each number: a cast alone refuses what is beyond them. OFFSET 0 keeps the path from being read anew
-- wherever the number is used.
SELECT sum(value) AS total, avg(value) AS mean, count(*) AS n, sum(abs(value)) AS size
FROM (
    SELECT CASE
        WHEN abs(number) BETWEEN 2.4703282292062329e-324 AND 1.7976931348623158079e308 THEN number::float8
        WHEN abs(number) < 1 THEN 0
        ELSE sign(number)::float8 * 'Infinity'::float8
    END AS value
    FROM (SELECT ({{path}})::numeric AS number FROM {{table}} WHERE jsonb_typeof({{path}}) = 'number' OFFSET 0) AS numbers
    OFFSET 0
) AS doubles;

-- Only what is near the range is cast: a cast refuses what is beyond doubles. OFFSET 0 keeps the path from being read anew
-- wherever the number is used.
SELECT floor(ticks / {{bucket}})::bigint * {{bucket_us}} AS value, count(*) AS n
FROM (
    SELECT CASE WHEN number BETWEEN 1 AND 1e18 THEN number::float8 END AS ticks
    FROM (SELECT ({{path}})::numeric AS number FROM {{table}} WHERE jsonb_typeof({{path}}) = 'number' OFFSET 0) AS numbers
    OFFSET 0
) AS doubles
WHERE ticks >= {{from}} AND ticks < {{until}}
GROUP BY value
ORDER BY value DESC
LIMIT 100;

-- The published statement, its time turned into text: the program reads no times.
SELECT user_id, first_post_date::VARCHAR AS first_post_date FROM (
SELECT j->>'$.did'::String as user_id,TO_TIMESTAMP(CAST(MIN(j->>'$.time_us') AS BIGINT) / 1000000) AS first_post_date FROM {{table}} WHERE (j->>'$.kind' = 'commit') AND (j->>'$.commit.operation' = 'create')   AND (j->>'$.commit.collection' = 'app.bsky.feed.post') GROUP BY user_id ORDER BY first_post_date ASC LIMIT 3
);

-- The published statement, its time turned into text: the program reads no times.
SELECT user_id, toString(first_post_ts) AS first_post_ts FROM (
SELECT data.did::String as user_id, min(fromUnixTimestamp64Micro(data.time_us)) as first_post_ts FROM {{table}} WHERE data.kind = 'commit' AND data.commit.operation = 'create' AND data.commit.collection = 'app.bsky.feed.post' GROUP BY user_id ORDER BY first_post_ts ASC LIMIT 3
);

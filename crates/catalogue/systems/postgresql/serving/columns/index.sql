INSERT INTO {{table}} (key, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9)
SELECT (line ->> 'key')::{{key_type}}, d.*
FROM {{table}}_lines, jsonb_to_record(line -> 'doc') AS d(field0 text, field1 text, field2 text, field3 text, field4 text, field5 text, field6 text, field7 text, field8 text, field9 text);
DROP TABLE {{table}}_lines;
-- What this session has counted is told first: told after the vacuum, it would make the table due for another one.
SELECT pg_stat_force_next_flush()::text;
VACUUM (FREEZE, ANALYZE) {{table}};

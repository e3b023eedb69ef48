-- json has no function that sets a member: it becomes jsonb and text again. Replacing the digits in the text would be
-- two to four times as fast, and would need to know that `l` is the first member.
INSERT INTO {{copy}} (key, doc) SELECT key, jsonb_set(doc::jsonb, '{l}', '1')::json FROM {{table}};

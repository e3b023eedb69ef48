-- There is no setter. A merge patch writes the member at its end.
INSERT INTO {{copy}} (key, doc) SELECT key, json_merge_patch(doc, '{"l": 1}') FROM {{table}};

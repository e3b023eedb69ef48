-- Every document is read once, and taken out of where it is kept compressed.
SELECT count(jsonb_typeof(doc)) AS documents FROM {{table}};

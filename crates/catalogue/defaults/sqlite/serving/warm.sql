-- Every document is read once; length() would not read what a long one has on pages of its own.
SELECT count(json_type(doc)) AS documents FROM {{table}};

-- Every row is read once.
SELECT count(octet_length(field9)) AS documents FROM {{table}};

-- Every document is read once.
SELECT SUM(JSON_LENGTH(doc)) AS members FROM {{table}};

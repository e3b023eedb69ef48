-- Every document is read once.
SELECT sum(strlen(doc)) AS bytes FROM {{table}};

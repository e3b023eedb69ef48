-- Every document is read once. InnoDB goes past the kernel's cache, so that its pool is empty when others find files in
-- memory that were just written.
SELECT SUM(JSON_LENGTH(doc)) AS members FROM {{table}};

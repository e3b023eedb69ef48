-- It runs the query: whether an index is gone by is decided only then.
EXPLAIN ANALYZE {{statement}};

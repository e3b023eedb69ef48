EXPLAIN QUERY PLAN {{statement}};

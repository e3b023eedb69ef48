EXPLAIN {{statement}};

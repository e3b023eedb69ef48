EXPLAIN indexes = 1 {{statement}};

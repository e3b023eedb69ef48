EXPLAIN FORMAT=TREE {{statement}};

-- TREE says nothing of how a single row is found.
EXPLAIN FORMAT=TRADITIONAL {{statement}};

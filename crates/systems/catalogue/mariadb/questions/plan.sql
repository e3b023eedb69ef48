EXPLAIN FORMAT=JSON {{statement}};

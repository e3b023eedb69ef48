-- It runs the query: of a GIN index only what a scan throws away tells whether it has found anything.
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) {{statement}};

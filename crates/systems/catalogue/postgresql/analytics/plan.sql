EXPLAIN (COSTS OFF) {{statement}};

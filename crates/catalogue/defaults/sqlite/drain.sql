-- Statistics for the planner. SQLite collects none by itself; its makers advise
-- PRAGMA optimize or ANALYZE after data has changed.
ANALYZE;

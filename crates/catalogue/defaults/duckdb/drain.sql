-- A commit is durable in the log; this writes the column store, which DuckDB
-- does by itself at a later commit or when it is closed.
CHECKPOINT;

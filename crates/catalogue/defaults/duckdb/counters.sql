SELECT sum(memory_usage_bytes)::BIGINT AS engine_memory_bytes FROM duckdb_memory();

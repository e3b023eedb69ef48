SELECT value AS engine_memory_bytes FROM system.metrics WHERE metric = 'MemoryTracking';

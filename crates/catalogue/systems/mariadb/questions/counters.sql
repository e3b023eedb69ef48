SELECT CAST(variable_value AS SIGNED) AS engine_memory_bytes
FROM information_schema.global_status
WHERE variable_name = 'Memory_used';

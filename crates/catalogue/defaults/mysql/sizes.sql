-- Bytes of the table's file; of what is in it, pages of the table and pages of its index.
SELECT space.file_size AS total_bytes, stats.data_length AS data_bytes, stats.index_length AS index_bytes
FROM information_schema.tables AS stats
JOIN information_schema.innodb_sys_tablespaces AS space
    ON space.name = CONCAT(stats.table_schema, '/', stats.table_name)
WHERE stats.table_schema = DATABASE() AND stats.table_name = '{{table}}';

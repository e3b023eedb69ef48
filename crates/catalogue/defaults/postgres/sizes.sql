SELECT
    pg_total_relation_size('{{table}}') AS total_bytes,
    pg_table_size('{{table}}') AS data_bytes,
    pg_indexes_size('{{table}}') AS index_bytes;

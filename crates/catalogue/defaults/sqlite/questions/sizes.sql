SELECT
    (SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size) AS total_bytes,
    (SELECT sum(pgsize) FROM dbstat WHERE aggregate = TRUE AND name = '{{table}}') AS data_bytes,
    (SELECT coalesce(sum(pgsize), 0) FROM dbstat
     WHERE aggregate = TRUE
       AND name IN (SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = '{{table}}')) AS index_bytes;

-- Pages that all connections of the process have written, each with the header of its frame. Not the size of the log's
-- file, which is written over.
SELECT cache_writes() * (page_size + 24) AS wal_bytes FROM pragma_page_size;

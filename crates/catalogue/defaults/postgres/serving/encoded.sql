-- Four bytes of length among them, of which short documents keep one on the disk.
SELECT pg_column_size({{document}}::jsonb) AS encoded_bytes;

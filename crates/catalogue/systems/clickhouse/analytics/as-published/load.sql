-- The published settings. There a client sends one file of a million documents
-- for each statement, which makes one part; here one statement reads them all.
INSERT INTO {{table}} FROM INFILE '{{file}}' SETTINGS min_insert_block_size_rows = 1_000_000, min_insert_block_size_bytes = 0 FORMAT JSONAsObject;

INSERT INTO {{table}} (doc) SELECT json{{document_cast}} FROM read_ndjson_objects('{{file}}');

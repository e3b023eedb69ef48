INSERT INTO {{table}} SELECT json FROM read_ndjson_objects('{{file}}');

INSERT INTO {{table}} SELECT json::VARIANT FROM read_ndjson_objects('{{file}}');

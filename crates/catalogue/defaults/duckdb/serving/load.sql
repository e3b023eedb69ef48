INSERT INTO {{table}} (key, doc)
SELECT json ->> '$.key', json -> '$.doc' FROM read_ndjson_objects('{{file}}');

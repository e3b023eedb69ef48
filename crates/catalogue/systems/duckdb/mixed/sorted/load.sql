-- Compared as text: time_us has 16 digits until the year 2286.
INSERT INTO {{table}} (doc)
SELECT json::VARIANT
FROM read_ndjson_objects('{{file}}')
ORDER BY json_extract_string(json, ['$.kind', '$.commit.operation', '$.commit.collection', '$.did', '$.time_us']);

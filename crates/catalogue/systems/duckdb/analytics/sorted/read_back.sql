-- By row number, so that whole documents are put together only for those rows.
SELECT doc::JSON::VARCHAR AS document
FROM {{table}}
WHERE rowid IN (SELECT rowid FROM {{table}} WHERE doc.time_us::BIGINT IN ({{keys}}));

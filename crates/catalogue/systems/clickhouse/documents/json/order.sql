SELECT key FROM {{table}} ORDER BY doc.l::Int64, key;

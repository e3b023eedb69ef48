SELECT key FROM {{table}} ORDER BY JSONExtractInt(doc, 'l'), key;

SELECT key FROM {{table}} WHERE JSONExtractInt(doc, 'l') = 10;

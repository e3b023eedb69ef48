UPDATE {{table}} SET doc = {{keyed_document}} WHERE CAST(doc->>'$.key' AS CHAR(23) CHARACTER SET ascii) COLLATE ascii_bin = {{key}};

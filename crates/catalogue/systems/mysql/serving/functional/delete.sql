DELETE FROM {{table}} WHERE CAST(doc->>'$.key' AS CHAR(23) CHARACTER SET ascii) COLLATE ascii_bin = {{key}};

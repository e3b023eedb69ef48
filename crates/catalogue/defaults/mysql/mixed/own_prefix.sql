SELECT COUNT(*) AS documents, MAX(`sequence`) AS highest FROM {{table}} WHERE writer = {{writer}};

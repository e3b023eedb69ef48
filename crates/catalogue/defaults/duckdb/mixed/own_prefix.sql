SELECT count(*) AS documents, max(sequence) AS highest FROM {{table}} WHERE writer = {{writer}};

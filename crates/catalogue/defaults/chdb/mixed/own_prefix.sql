SELECT count() AS documents, if(documents = 0, NULL, max(sequence)) AS highest
FROM {{table}}
WHERE writer = {{writer}};

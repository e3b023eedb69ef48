SELECT writer, COUNT(*) AS documents, MAX(`sequence`) AS highest
FROM {{table}}
WHERE {{ranges}}
GROUP BY writer;

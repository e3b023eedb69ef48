SELECT writer, count(*) AS documents, max(sequence) AS highest
FROM {{table}}
WHERE {{ranges}}
GROUP BY writer;

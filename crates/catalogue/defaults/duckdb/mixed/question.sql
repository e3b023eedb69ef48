WITH seen AS (
{{seen}}
)
SELECT (SELECT list([writer, documents, highest])::VARCHAR FROM seen) AS seen, a.*
FROM (
{{question}}
) AS a;

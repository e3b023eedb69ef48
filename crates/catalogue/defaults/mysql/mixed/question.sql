WITH a AS (
{{question}}
), seen AS (
{{seen}}
)
SELECT (SELECT JSON_ARRAYAGG(JSON_ARRAY(writer, documents, highest)) FROM seen) AS seen, a.*
FROM a;

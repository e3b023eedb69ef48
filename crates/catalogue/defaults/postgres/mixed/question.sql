WITH a AS (
{{question}}
), seen AS (
{{seen}}
)
SELECT (SELECT json_agg(json_build_array(writer, documents, highest)) FROM seen)::text AS seen, a.*
FROM a;

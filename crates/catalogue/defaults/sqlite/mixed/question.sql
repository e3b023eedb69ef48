SELECT
    (
        SELECT json_group_array(json_array(writer, documents, highest))
        FROM (
{{seen}}
        )
    ) AS seen,
    a.*
FROM (
{{question}}
) AS a;

SELECT
    (
        SELECT toString(groupArray([toInt64(writer), toInt64(documents), toInt64(highest)]))
        FROM
        (
{{seen}}
        )
    ) AS seen,
    *
FROM
(
{{question}}
);

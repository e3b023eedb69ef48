SELECT CAST(doc->'$.l' AS SIGNED) AS l FROM {{table}};

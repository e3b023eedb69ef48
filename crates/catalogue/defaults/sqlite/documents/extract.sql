SELECT doc ->> '$.l' AS l FROM {{table}};

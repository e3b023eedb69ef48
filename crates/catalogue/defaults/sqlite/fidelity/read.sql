SELECT json(doc) AS doc FROM {{table}};

SELECT toString(doc) AS doc FROM {{table}};

SELECT doc::VARCHAR AS doc FROM {{table}};

SELECT doc::JSON::VARCHAR AS doc FROM {{table}};

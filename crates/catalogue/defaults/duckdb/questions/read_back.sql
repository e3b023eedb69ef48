SELECT doc::JSON::VARCHAR AS document FROM {{table}} LIMIT {{rows}};

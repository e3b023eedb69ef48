SELECT doc::VARCHAR AS document FROM {{table}} LIMIT {{rows}};

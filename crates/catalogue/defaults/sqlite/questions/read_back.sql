SELECT json(doc) AS document FROM {{table}} LIMIT {{rows}};

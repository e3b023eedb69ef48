SELECT doc::text AS document FROM {{table}} LIMIT {{rows}};

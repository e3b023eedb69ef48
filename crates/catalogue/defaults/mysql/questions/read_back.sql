SELECT doc AS document FROM {{table}} LIMIT {{rows}};

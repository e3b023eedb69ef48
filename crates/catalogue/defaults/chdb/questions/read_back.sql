SELECT toJSONString(doc) AS document FROM {{table}} LIMIT {{rows}};

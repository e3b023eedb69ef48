SELECT hex(json(doc)) AS doc FROM {{table}};

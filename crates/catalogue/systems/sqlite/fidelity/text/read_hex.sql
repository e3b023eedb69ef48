SELECT hex(doc) AS doc FROM {{table}};

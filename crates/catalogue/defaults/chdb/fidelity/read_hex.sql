SELECT hex(toString(doc)) AS doc FROM {{table}};

SELECT doc FROM {{table}};

SELECT JSONExtractInt(doc, 'l') AS l FROM {{table}};

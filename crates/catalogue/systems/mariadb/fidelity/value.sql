SELECT JSON_UNQUOTE(JSON_EXTRACT(doc, '$.{{member}}')) AS value FROM {{table}};

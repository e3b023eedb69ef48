SELECT doc.{{member}}::JSON::VARCHAR AS value FROM {{table}};

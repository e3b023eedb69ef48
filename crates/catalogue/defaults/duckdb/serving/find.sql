SELECT key, doc FROM {{table}} WHERE json_extract_string(doc, '{{path}}') = {{condition}} LIMIT {{limit}};

SELECT key, json(doc) AS doc FROM {{table}} WHERE doc ->> '{{path}}' = {{condition}} LIMIT {{limit}};

SELECT key, doc FROM {{table}} WHERE doc #>> '{{braced}}' = {{condition}} LIMIT {{limit}};

SELECT doc ->> 'key' AS key, doc FROM {{table}} WHERE doc #>> '{{braced}}' = {{condition}} LIMIT {{limit}};

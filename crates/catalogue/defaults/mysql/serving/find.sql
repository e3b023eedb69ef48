SELECT `key`, doc FROM {{table}} WHERE found_by = {{condition}} LIMIT {{limit}};

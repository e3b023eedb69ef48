UPDATE {{table}} SET doc = {{keyed_document}} WHERE `key` = {{key}};

UPDATE {{table}} SET doc = JSON_SET(doc, '{{path}}', {{value}}) WHERE `key` = {{key}};

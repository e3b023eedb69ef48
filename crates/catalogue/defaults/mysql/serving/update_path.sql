UPDATE {{table}} SET doc = JSON_REPLACE(doc, '{{path}}', {{value}}) WHERE `key` = {{key}};

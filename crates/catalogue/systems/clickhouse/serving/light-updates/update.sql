UPDATE {{table}} SET doc = JSONMergePatch(doc, concat('{"{{dotted}}":', toJSONString({{value}}), '}')) WHERE key = {{key}};

ALTER TABLE {{table}} UPDATE doc = JSONMergePatch(doc, concat('{"{{dotted}}":', toJSONString({{value}}), '}')) WHERE key = {{key}};

ALTER TABLE {{table}} UPDATE doc = JSONMergePatch(doc, {{patch}}) WHERE key = {{key}};

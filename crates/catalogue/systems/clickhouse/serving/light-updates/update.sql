UPDATE {{table}} SET doc = JSONMergePatch(doc, {{patch}}) WHERE key = {{key}};

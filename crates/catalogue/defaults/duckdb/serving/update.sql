UPDATE {{table}} SET doc = json_merge_patch(doc, {{patch}}) WHERE key = {{key}};

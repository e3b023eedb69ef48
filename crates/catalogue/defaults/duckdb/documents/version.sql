UPDATE {{table}} SET doc = json_merge_patch(doc, json_object('l', {{value}}::BIGINT)) WHERE key = {{key}};

UPDATE {{table}} SET doc = json_merge_patch(doc, json_object('{{dotted}}', {{value}})) WHERE key = {{key}};

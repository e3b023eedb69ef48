SELECT count(*) AS documents FROM {{table}} WHERE json_extract_string(doc, '{{path}}') = {{condition}};

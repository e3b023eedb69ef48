SELECT COUNT(*) AS documents FROM {{table}} WHERE found_by = {{condition}};

SELECT COUNT(*) AS documents FROM {{table}};

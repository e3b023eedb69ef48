SELECT count(*) AS documents FROM {{table}};

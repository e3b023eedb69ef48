SELECT count(*) AS documents FROM {{table}} WHERE doc ->> '{{path}}' = {{condition}};

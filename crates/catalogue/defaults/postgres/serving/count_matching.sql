SELECT count(*) AS documents FROM {{table}} WHERE doc #>> '{{braced}}' = {{condition}};

CREATE INDEX {{table}}_path ON {{table}} ((doc #>> '{{braced}}'));
VACUUM (ANALYZE) {{table}};

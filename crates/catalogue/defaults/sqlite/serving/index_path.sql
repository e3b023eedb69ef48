CREATE INDEX {{table}}_path ON {{table}} (doc ->> '{{path}}');
ANALYZE;

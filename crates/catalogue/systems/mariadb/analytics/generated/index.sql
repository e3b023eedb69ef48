CREATE INDEX {{table}}_paths ON {{table}} (kind, operation, collection, did, time_us);

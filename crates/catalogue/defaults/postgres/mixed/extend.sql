-- Both are null in the base.
ALTER TABLE {{table}} ADD COLUMN writer smallint, ADD COLUMN sequence integer;
CREATE INDEX {{table}}_writers ON {{table}} (writer, sequence) WHERE writer IS NOT NULL;

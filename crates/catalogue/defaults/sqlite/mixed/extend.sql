-- Both are null in the base.
ALTER TABLE {{table}} ADD COLUMN writer INTEGER;
ALTER TABLE {{table}} ADD COLUMN sequence INTEGER;
CREATE INDEX {{table}}_writers ON {{table}} (writer, sequence) WHERE writer IS NOT NULL;

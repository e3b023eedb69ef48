-- Both are null in the base.
ALTER TABLE {{table}} ADD COLUMN `sequence` INT FIRST;
ALTER TABLE {{table}} ADD COLUMN writer SMALLINT FIRST;
CREATE INDEX {{table}}_writers ON {{table}} (writer, `sequence`);

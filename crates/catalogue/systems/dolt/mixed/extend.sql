-- Both are null in the base. Behind the generated columns, whose expressions name columns by their position.
ALTER TABLE {{table}} ADD COLUMN writer SMALLINT;
ALTER TABLE {{table}} ADD COLUMN `sequence` INT;
CREATE INDEX {{table}}_writers ON {{table}} (writer, `sequence`);

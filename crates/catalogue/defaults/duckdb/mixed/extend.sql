-- Both are null in the base.
ALTER TABLE {{table}} ADD COLUMN writer SMALLINT;
ALTER TABLE {{table}} ADD COLUMN sequence INTEGER;

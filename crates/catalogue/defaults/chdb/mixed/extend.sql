-- Both are -1 in the base.
ALTER TABLE {{table}} ADD COLUMN writer Int16 DEFAULT -1 FIRST;
ALTER TABLE {{table}} ADD COLUMN sequence Int32 DEFAULT -1 AFTER writer;
ALTER TABLE {{table}} MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;

-- The published statement. There it reads one file of 100,000 lines at a time,
-- each in a process of its own; here one statement reads them all.
insert into {{table}} select * from read_ndjson_objects('{{file}}', ignore_errors=false, maximum_object_size=1048576000);

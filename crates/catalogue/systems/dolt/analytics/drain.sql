-- What its automatic collection, which is on, does once a database has grown by 125 MB since the last one.
CALL dolt_gc();
-- Its own thread renews these in the background.
ANALYZE TABLE {{table}};

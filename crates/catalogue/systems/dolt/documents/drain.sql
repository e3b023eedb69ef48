-- Its own thread renews these in the background; until then those of a table that had the same name hold.
ANALYZE TABLE {{table}};
-- Sessions from before it are of no more use afterwards.
CALL dolt_gc();

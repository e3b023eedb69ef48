-- What no branch refers to is removed, and the rest put into archives.
CALL dolt_gc();

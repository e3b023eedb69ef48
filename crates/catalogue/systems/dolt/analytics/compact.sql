-- Garbage is gone already; what is in the oldest files is looked at too.
CALL dolt_gc('--full');

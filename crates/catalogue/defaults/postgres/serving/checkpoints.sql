-- By time and by volume. Between two writes of a spread checkpoint the checkpointer waits for its own delay; before an
-- immediate one ends, for the disk.
SELECT
    (SELECT num_timed + num_requested FROM pg_stat_checkpointer) AS checkpoints,
    (SELECT coalesce(wait_event = 'CheckpointWriteDelay' OR wait_event_type = 'IO', false)::int::bigint
     FROM pg_stat_activity WHERE backend_type = 'checkpointer') AS running;

-- Autovacuum at work, and tables for which it is due: its own thresholds, by their defaults.
SELECT
    (SELECT count(*) FROM pg_stat_activity
     WHERE backend_type = 'autovacuum worker' AND datname = current_database())
    + (SELECT count(*) FROM pg_stat_user_tables
       WHERE relname = '{{table}}'
         AND (coalesce(last_analyze, last_autoanalyze) IS NULL
              OR n_mod_since_analyze > 50 + 0.1 * n_live_tup
              OR n_ins_since_vacuum > 1000 + 0.2 * n_live_tup
              OR n_dead_tup > 50 + 0.2 * n_live_tup)) AS due;

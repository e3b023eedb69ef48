-- The published table keeps merged-away parts for the default eight minutes:
-- only merges are waited for.
SELECT count() AS pending FROM system.merges WHERE database = currentDatabase() AND table = '{{table}}';

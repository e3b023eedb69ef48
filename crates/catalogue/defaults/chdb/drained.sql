SELECT
    (SELECT count() FROM system.merges WHERE database = currentDatabase() AND table = '{{table}}')
  + (SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = '{{table}}' AND _state != 'Active') AS pending;

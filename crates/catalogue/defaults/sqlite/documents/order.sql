-- ->> gives a number as a number, so that it is ordered as one.
SELECT key FROM {{table}} ORDER BY doc ->> '$.l', key;

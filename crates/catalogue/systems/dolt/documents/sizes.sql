-- Its catalogue estimates by the widths of columns: what counts is the folder.
SELECT COUNT(*) AS documents FROM {{table}};

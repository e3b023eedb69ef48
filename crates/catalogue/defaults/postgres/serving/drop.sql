DROP TABLE IF EXISTS {{table}}_lines;
DROP TABLE IF EXISTS {{table}};

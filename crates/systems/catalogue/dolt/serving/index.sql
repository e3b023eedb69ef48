INSERT INTO {{table}} (`key`, doc)
SELECT line->>'$.key', line->'$.doc' FROM {{table}}_lines;
DROP TABLE {{table}}_lines;

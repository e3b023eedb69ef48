-- A key that is a number is cut out of the text, `{"key":…,"doc":{…}}`: as a number of JSON it would be a double, which
-- has 53 bits.
INSERT INTO {{table}} (`key`, doc)
SELECT
    IF(
        SUBSTRING(line, 8, 1) = '"',
        JSON_UNQUOTE(JSON_EXTRACT(CAST(line AS JSON), '$.key')),
        SUBSTRING_INDEX(SUBSTRING(line, 8), ',', 1)
    ),
    JSON_EXTRACT(CAST(line AS JSON), '$.doc')
FROM {{table}}_lines;
DROP TABLE {{table}}_lines;

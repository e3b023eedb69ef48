-- FROM INFILE parses straight into the table's own JSON type. The same file
-- through SELECT FROM file() is parsed into a JSON type without hints first and
-- converted, which takes twice the time.
INSERT INTO {{table}} FROM INFILE '{{file}}' FORMAT JSONAsObject;

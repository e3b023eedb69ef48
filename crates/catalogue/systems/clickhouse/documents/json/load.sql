INSERT INTO {{table}} FROM INFILE '{{file}}' FORMAT JSONEachRow;

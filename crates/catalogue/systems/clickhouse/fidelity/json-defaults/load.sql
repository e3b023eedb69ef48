INSERT INTO {{table}} FROM INFILE '{{file}}' FORMAT JSONAsObject;

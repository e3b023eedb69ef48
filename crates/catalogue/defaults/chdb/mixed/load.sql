INSERT INTO {{table}} (data) FROM INFILE '{{file}}' FORMAT JSONAsObject;

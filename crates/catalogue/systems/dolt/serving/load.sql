LOAD DATA LOCAL INFILE 'documents' INTO TABLE {{table}}_lines CHARACTER SET utf8mb4 (line);

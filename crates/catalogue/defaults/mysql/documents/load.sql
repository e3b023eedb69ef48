LOAD DATA LOCAL INFILE 'documents' INTO TABLE {{table}} CHARACTER SET utf8mb4 (`key`, doc);

LOAD DATA LOCAL INFILE 'documents' INTO TABLE {{table}} CHARACTER SET utf8mb4 (@line)
SET doc = JSON_EXTRACT(@line, '$.doc');

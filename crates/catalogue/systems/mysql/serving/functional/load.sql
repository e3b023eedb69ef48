LOAD DATA LOCAL INFILE 'documents' INTO TABLE {{table}} CHARACTER SET utf8mb4 (@line)
SET doc = JSON_SET(JSON_EXTRACT(@line, '$.doc'), '$.key', JSON_EXTRACT(@line, '$.key'));

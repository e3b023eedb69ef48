LOAD DATA LOCAL INFILE 'documents' INTO TABLE {{table}} CHARACTER SET utf8mb4 (@line)
SET `key` = JSON_UNQUOTE(JSON_EXTRACT(@line, '$.key')), doc = JSON_EXTRACT(@line, '$.doc');

INSERT INTO {{table}} (doc)
SELECT line FROM file('{{file}}', LineAsString, 'line String');

COPY {{table}}_lines (line) FROM STDIN;

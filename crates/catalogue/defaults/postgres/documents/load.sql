COPY {{table}} (key, doc) FROM STDIN;

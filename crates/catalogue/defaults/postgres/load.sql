COPY {{table}} (doc) FROM STDIN;

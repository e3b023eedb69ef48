COPY {{table}} (writer, sequence, doc) FROM STDIN;

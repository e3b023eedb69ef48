COPY {{table}} (doc) TO STDOUT;

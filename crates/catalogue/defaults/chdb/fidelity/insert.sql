INSERT INTO {{table}} (doc) SELECT {{document}};

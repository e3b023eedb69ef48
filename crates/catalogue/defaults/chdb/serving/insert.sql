INSERT INTO {{table}} (key, doc) SELECT {{key}}, {{document}};

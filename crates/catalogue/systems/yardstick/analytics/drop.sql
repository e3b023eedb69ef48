drop {{table}};

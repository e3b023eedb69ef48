create {{table}};

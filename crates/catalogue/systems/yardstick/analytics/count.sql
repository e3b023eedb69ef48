count {{table}};

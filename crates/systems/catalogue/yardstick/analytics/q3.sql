q3 {{table}};

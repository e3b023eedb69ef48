q4 {{table}};

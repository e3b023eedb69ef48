q6 {{table}};

q5 {{table}};

q2 {{table}};

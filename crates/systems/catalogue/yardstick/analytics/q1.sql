q1 {{table}};

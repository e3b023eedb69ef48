OPTIMIZE TABLE {{table}};

sizes {{table}};

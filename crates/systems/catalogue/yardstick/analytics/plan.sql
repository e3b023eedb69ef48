plan {{statement}};

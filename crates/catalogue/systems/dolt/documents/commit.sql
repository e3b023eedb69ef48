CALL dolt_commit('-A', '-m', 'version');

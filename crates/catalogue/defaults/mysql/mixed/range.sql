(writer = {{writer}} AND `sequence` >= {{floor}});

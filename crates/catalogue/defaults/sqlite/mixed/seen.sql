{{ranges}};

-- Statistics are renewed in the background, dirty pages written sooner or later.
ANALYZE TABLE {{table}};
FLUSH TABLES {{table}} FOR EXPORT;
UNLOCK TABLES;

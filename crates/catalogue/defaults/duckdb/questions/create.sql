CREATE TABLE {{table}} (doc VARIANT);

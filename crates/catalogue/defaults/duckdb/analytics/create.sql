CREATE TABLE {{table}} (doc JSON);

create table {{table}} (j JSON);

-- A table lives for one document: what a power cut would leave of it does not matter.
PRAGMA synchronous = OFF;
CREATE TABLE {{table}} (doc BLOB NOT NULL);

-- The documents are the body of the request.
INSERT INTO {{table}} FORMAT JSONAsObject;

-- The documents are the body of the request.
INSERT INTO {{table}} (data) FORMAT JSONAsObject;

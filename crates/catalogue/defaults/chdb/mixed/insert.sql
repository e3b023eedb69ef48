INSERT INTO {{table}} (writer, sequence, data) FORMAT TSV;

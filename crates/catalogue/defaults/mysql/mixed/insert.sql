INSERT INTO {{table}} (writer, `sequence`, doc) VALUES {{rows}};

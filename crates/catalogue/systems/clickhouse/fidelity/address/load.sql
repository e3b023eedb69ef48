INSERT INTO {{table}} (doc) SELECT line FROM input('line String') FORMAT LineAsString

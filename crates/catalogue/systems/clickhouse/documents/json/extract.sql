SELECT doc.l::Int64 AS l FROM {{table}};

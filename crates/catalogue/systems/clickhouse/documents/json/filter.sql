SELECT key FROM {{table}} WHERE doc.l::Int64 = 10;

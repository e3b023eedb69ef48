SELECT {{paths}} FROM {{table}}, jsonb_to_record(doc) AS d({{columns}}) WHERE key = {{key}};

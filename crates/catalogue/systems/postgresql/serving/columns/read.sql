SELECT row_to_json(d) AS doc FROM (SELECT field0, field1, field2, field3, field4, field5, field6, field7, field8, field9 FROM {{table}} WHERE key = {{key}}) AS d;

INSERT INTO {{table}} (key, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9)
SELECT {{key}}::{{key_type}}, d.* FROM json_to_record({{document}}) AS d(field0 text, field1 text, field2 text, field3 text, field4 text, field5 text, field6 text, field7 text, field8 text, field9 text);

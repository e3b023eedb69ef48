SELECT toJSONString(data) AS document
FROM {{table}}
WHERE data.time_us IN ({{keys}});

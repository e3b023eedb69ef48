SELECT toJSONString(doc.{{member}}) AS value FROM {{table}};

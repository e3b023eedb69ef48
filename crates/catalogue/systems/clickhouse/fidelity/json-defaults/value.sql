-- An object below a path is another column than a value there.
SELECT if(toString(doc.^{{member}}) = '{}', toJSONString(doc.{{member}}), toString(doc.^{{member}})) AS value
FROM {{table}};

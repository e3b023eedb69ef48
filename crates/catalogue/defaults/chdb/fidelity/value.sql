SELECT JSONExtractRaw(doc, '{{member}}') AS value FROM {{table}};

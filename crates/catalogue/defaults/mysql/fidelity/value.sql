SELECT doc->>'$.{{member}}' AS value FROM {{table}};

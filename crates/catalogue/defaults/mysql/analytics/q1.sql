SELECT {{collection}} AS event, COUNT(*) AS count
FROM {{table}}
GROUP BY event
ORDER BY count DESC, event IS NULL, event;

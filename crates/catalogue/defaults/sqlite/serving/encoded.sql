SELECT length(jsonb({{document}})) AS encoded_bytes;

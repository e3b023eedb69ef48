SELECT JSON_STORAGE_SIZE({{document}}) AS encoded_bytes;

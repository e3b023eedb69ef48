DELETE FROM {{table}} WHERE `key` = {{key}};

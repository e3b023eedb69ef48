SELECT {{paths}} FROM {{table}} WHERE key = {{key}};

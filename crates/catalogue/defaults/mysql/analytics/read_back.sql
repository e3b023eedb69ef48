SELECT doc AS document FROM {{table}} WHERE {{time_us}} IN ({{keys}});

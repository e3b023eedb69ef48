//! How several systems write values, answers and statements: trees of JSON as rows, ClickHouse's binary rows, decimals
//! as cells. Nothing is sent or received here.

#![forbid(unsafe_code)]

pub mod clickhouse;
pub mod decimal;
pub mod json_rows;

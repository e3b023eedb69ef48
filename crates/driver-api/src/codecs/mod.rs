//! Encodings of values, answers and statements that several systems share: JSON trees as rows, ClickHouse's
//! binary rows, decimals as cells. The module does no I/O.

pub mod clickhouse;
pub mod decimal;
pub mod json_rows;

//! What ClickHouse as a server and chDB as a library have in common: the format of answers, how parameters are written,
//! and texts of several statements.

pub mod parameter;
pub mod row_binary;
pub mod split;

/// The format of every answer.
pub const FORMAT: &str = "RowBinaryWithNamesAndTypes";

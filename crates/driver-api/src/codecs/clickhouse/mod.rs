//! Code shared by ClickHouse as a server and chDB as a library: the format of answers, the encoding of
//! parameters, and the splitting of texts into statements.

pub mod parameter;
pub mod row_binary;
pub mod split;

/// Output format that is requested for every answer.
pub const FORMAT: &str = "RowBinaryWithNamesAndTypes";

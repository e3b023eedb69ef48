//! Engines that run in the process of their session, called through their C interfaces: DuckDB and chDB, whose libraries
//! are loaded, and SQLite, which is compiled in. All that is unsafe is here.

mod chdb;
mod duckdb;
mod library;
mod sqlite;

pub use chdb::Chdb;
pub use duckdb::Duckdb;
pub use sqlite::Sqlite;

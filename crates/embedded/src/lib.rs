//! Embedded engines, called through their C interfaces: DuckDB and chDB, whose libraries are loaded at run
//! time, and SQLite, which is compiled in. All other crates forbid unsafe code, except for one call each in
//! `artifacts` (between fork and exec of a registry's client) and in `powerfail` (the ioctl that shuts a file
//! system down).

mod chdb;
mod duckdb;
mod library;
mod sqlite;

pub use chdb::Chdb;
pub use duckdb::Duckdb;
pub use sqlite::Sqlite;

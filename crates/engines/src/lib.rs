//! Engines that run in the process of their session, called through their C interfaces: DuckDB and chDB, whose libraries
//! are loaded, and SQLite, which is compiled in. Every other crate forbids what is unsafe, but `systems`, which has one
//! call of it: between fork and exec of a registry's client.

mod chdb;
mod duckdb;
mod library;
mod sqlite;

pub use chdb::Chdb;
pub use duckdb::Duckdb;
pub use sqlite::Sqlite;

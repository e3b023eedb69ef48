//! Drivers for server protocols, one module each: how statements, parameters, rows and documents are encoded
//! on a connection.
//!
//! A driver knows its protocol only, not the questions, the catalogue or the rankings.

#![forbid(unsafe_code)]

mod bulk;
mod clickhouse;
mod elasticsearch;
mod http;
mod mongodb;
mod mysql;
mod postgres;
mod scram;
mod socket;
mod socket_calls;
mod tls;

pub use clickhouse::Clickhouse;
pub use elasticsearch::Elasticsearch;
pub use mongodb::{Mongodb, open_nonblocking as open_mongodb_nonblocking};
pub use mysql::{Mysql, MysqlNonblocking};
pub use postgres::{Postgres, PostgresNonblocking};

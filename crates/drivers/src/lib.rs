//! Protocols of servers, one folder each: how statements, parameters, rows and documents cross a connection.
//!
//! A driver knows a protocol and nothing of questions, catalogues or ranks.

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
mod tls;

pub use clickhouse::Clickhouse;
pub use elasticsearch::Elasticsearch;
pub use mongodb::{Mongodb, lane as mongodb_lane};
pub use mysql::{Mysql, MysqlLane};
pub use postgres::{Postgres, PostgresLane};

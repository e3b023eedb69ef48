//! Drivers: how a statement and its typed answer reach a database, and the worker process in which
//! one engine runs apart from the program that measures it.
//!
//! A driver knows a protocol and nothing of questions, catalogues or ranks. Everything that loads
//! foreign code (a C library of hundreds of megabytes that may crash, print, or keep threads) does so
//! in a worker process, so that it can be killed, measured and started cold.

pub mod worker;

mod bulk;
mod clickhouse;
mod connect;
mod elasticsearch;
mod http;
mod mock;
mod mongodb;
mod mysql;
mod postgres;
mod scram;
mod socket;
#[cfg(test)]
mod testing;
mod tls;
mod yardstick;

pub use connect::Connector;

//! Tests with real servers, each started for a worker process of the program. Missing servers are installed
//! into the user's cache; the tests fail on machines where that is impossible.

mod address;
mod clickhouse;
mod contract;
mod elasticsearch;
mod encrypted;
mod faults;
mod life;
mod logins;
mod mongodb;
mod mysql;
mod ownership;
mod postgresql;
mod questions;
mod server;
mod socket;
#[path = "../../../../worker/tests/contract/suite.rs"]
mod suite;

//! Real servers, each started by a worker process of the program. They are installed into the user's cache
//! when they are not there yet; a machine that cannot have them fails these tests.

mod address;
mod clickhouse;
mod contract;
mod elasticsearch;
mod encrypted;
mod faults;
mod life;
mod mongodb;
mod mysql;
mod ownership;
mod postgresql;
mod questions;
mod server;
mod socket;
#[path = "../../../../worker/tests/contract/suite.rs"]
mod suite;

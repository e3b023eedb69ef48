//! Interface of every database connection: statements, parameters, rows, bulk loads, nonblocking connections,
//! endpoints and errors. Protocols and callers depend on this crate, not the other way round.

#![forbid(unsafe_code)]

pub mod address;
pub mod batch;
pub mod codecs;
pub mod driver;
pub mod endpoint;
pub mod error;
pub mod nonblocking;
pub mod prepared;
pub mod rows;
pub mod seen;
#[cfg(any(test, feature = "test-support"))]
pub mod test_support;
mod text_template;

pub use driver::{
    Connection, DocumentSource, DriverContext, DriverError, EngineLocation, LoadSink, Result, SessionOptions,
    SharedOutput,
};
pub use nonblocking::{NonblockingConnection, parameter_marker};
pub use prepared::{Parameter, PreparedStatement};
pub use rows::{Cell, ResultSet, RowSink, StatementStats};

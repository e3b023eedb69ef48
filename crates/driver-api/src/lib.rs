//! Interface of every database connection: statements, parameters, rows, bulk loads, nonblocking connections,
//! endpoints and errors. Protocols and callers depend on this crate, not the other way round.

#![forbid(unsafe_code)]

pub mod address;
pub mod codecs;
pub mod driver;
pub mod endpoint;
pub mod error;
pub mod lane;
#[cfg(any(test, feature = "made"))]
pub mod made;
pub mod prepared;
pub mod rows;

pub use driver::{
    Connection, DocumentSource, DriverError, Host, LoadSink, Open, Place, Result, SharedOutput,
};
pub use lane::{Lane, marker};
pub use prepared::{Parameter, Prepared};
pub use rows::{Cell, Outcome, Report, RowSink};

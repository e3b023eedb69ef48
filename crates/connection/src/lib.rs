//! What every connection with a database offers, and what it is opened with: statements, parameters, rows, bulk, lanes,
//! endpoints, and why something was not done. No protocol is known here, and none of those who use one.

#![forbid(unsafe_code)]

pub mod address;
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

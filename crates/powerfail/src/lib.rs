//! Simulates a power failure: a [`Disk`] is a file system whose power can be cut at a chosen moment.
//!
//! [`enter`] moves the program into its own mount namespace, [`Disk::create`] creates the file system, and
//! [`Disk::cut`] drops what was not synced. [`Disk`] has an example, [`Disk::cut`] says what is lost, and
//! [`Disk::check`] lists the prerequisites.

#![deny(unsafe_op_in_unsafe_fn)]

mod disk;
mod error;
mod namespace;
mod open_files;
mod shutdown;
mod tools;

pub use disk::Disk;
pub use error::{OutageError, Result};
pub use namespace::enter;

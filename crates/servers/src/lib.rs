//! Servers that are started for a run: their folders made, their processes guarded, watched and stopped.
//!
//! The process that plans the run owns its servers, so that several workers can reach one, and so that a server
//! and a worker can end without each other. Nothing in here knows a system or a protocol: what is run is said
//! by a [`Recipe`], and whether a server is ready is for the worker to find out that logs in.

#![forbid(unsafe_code)]

mod beginning;
mod certificate;
mod copy;
mod error;
mod fit;
mod folder;
mod guard;
mod launch;
mod need;
mod port;
mod process;
mod recipe;
mod server;
mod user;

pub use copy::copy_all;
pub use error::{Result, ServerError};
pub use fit::{fit, forbids_programs};
pub use guard::{EXEC, GUARD, exec, guard, is_secret, wait_until_gone};
pub use launch::{Launch, Login};
pub use need::Need;
pub use recipe::{OwnCommands, Recipe, Scalar, Transport};
pub use server::Server;

//! Servers that are started for a run: initialising their data folders, guarding, watching and stopping them.
//!
//! The coordinator owns the servers, so that several workers can reach one server, and so that servers and
//! workers can end independently. This crate knows no system and no protocol: a [`Recipe`] describes what to
//! run, and the worker that logs in finds out whether the server is ready.

#![forbid(unsafe_code)]

mod certificate;
mod copy;
mod data_template;
mod error;
mod folder;
mod guard;
mod launch;
mod machine_check;
mod port;
mod process;
mod recipe;
mod required_program;
mod server;
mod user;

pub use copy::copy_all;
pub use error::{Result, ServerError};
pub use guard::{EXEC, GUARD, exec, guard, is_secret, wait_until_exited};
pub use launch::{LaunchSpec, Login};
pub use machine_check::{check_machine, forbids_programs};
pub use recipe::{ExternalBinaryCommands, Recipe, Scalar};
pub use required_program::RequiredProgram;
pub use server::Server;

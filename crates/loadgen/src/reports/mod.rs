//! Reports of a user: streams ask questions in a closed loop, alone or beside the clients of a job.
//!
//! As in mixed loads, nothing is judged here. What was asked and answered when is returned, and the coordinator
//! compares the answers when that costs the system nothing.

mod stream;
mod team;

pub mod job;
pub mod log;

pub(crate) use team::{ReportTeam, run_alone};

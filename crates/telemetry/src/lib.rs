//! Measurement instruments: clocks, telemetry of machine and processes, the page cache, and the statistics of
//! trials.
//!
//! This crate knows nothing about databases: it sees processes as pids and data folders as paths.

#![forbid(unsafe_code)]

pub mod activity;
pub mod cgroup;
pub mod clock;
pub mod control;
pub mod cpu;
pub mod disk;
pub mod foreign_load;
pub mod foreign_tasks;
pub mod machine;
pub mod memory;
pub mod memory_cap;
pub mod page_cache;
pub mod process;
pub mod scheduling;
pub mod series;
pub mod stall;
pub mod stop_condition;

pub mod process_tree;

//! Statistics of trials: estimates with intervals, paired ratios, sequential and multiple tests, change
//! points, histograms of latencies, and the arrival times of an open loop.
//!
//! All functions are pure: nothing here reads a clock, a file or a process.

#![forbid(unsafe_code)]

pub mod arrival;
pub mod batch_schedule;
pub mod change_points;
pub mod frontier;
pub mod growth;
pub mod histogram;
pub mod multiple_testing;
pub mod phase_factors;
mod pooled;
pub mod sequential;
pub mod statistics;
pub mod window;

//! Statistics of trials: estimates with intervals, paired ratios, sequential and multiple tests, change points, histograms of
//! latencies, and the times at which an open loop sends.
//!
//! Numbers go in and numbers come out; nothing here reads a clock, a file or a process.

#![forbid(unsafe_code)]

pub mod arrival;
pub mod edges;
pub mod families;
pub mod histogram;
pub mod looks;
mod pooled;
pub mod statistics;

//! Results of a job, as a worker returns them.

use std::collections::BTreeMap;

use jsonathlon_worker::protocol::OpUsage;
use serde::{Deserialize, Serialize};

use crate::operation::Operation;
use crate::reports::log::ReportsLog;

/// Measurements of one job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobReport {
    /// Number of threads that the clients were spread over.
    pub threads: u32,
    /// Length of the measurement window in seconds, without the warm-up.
    pub measured_s: f64,
    /// Measurements by operation. An operation of the mix that never ended within the window is present with
    /// zeros.
    pub operations: BTreeMap<Operation, OperationReport>,
    /// Time series, one entry per second from the beginning of the warm-up.
    pub seconds: Vec<TrialSecond>,
    /// CPU and memory usage of the processes during the measurement window.
    pub usage: OpUsage,
    /// Bytes written to the disk of the data folder during the measurement window, by any process. `None` if
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_written_bytes: Option<u64>,
    /// Context switches and CPU migrations of the system's threads during the measurement window. `None` if
    /// unknown.
    pub scheduling: Option<Scheduling>,
    /// Planned, missed and late arrivals. `None` in a closed loop.
    pub arrivals: Option<ArrivalReport>,
    /// Number of lost updates: two acknowledged writes claim to have replaced the same value.
    pub lost_updates: u64,
    /// Number of lost connections that were reopened.
    pub reconnects: u64,
    /// Descriptions of the first wrong answers.
    pub wrong_answers: Vec<String>,
    /// Error messages of the system, each with its number of occurrences.
    pub refusals: BTreeMap<String, u64>,
    /// Whether throughput was steady before measuring began. `None` if this was not tested.
    pub steady: Option<bool>,
    /// Number of records after the job, as far as writes were acknowledged.
    pub records: u64,
    /// Number of writes whose outcome is unknown.
    pub unknown_writes: u64,
    /// Coverage of reading back after all connections were lost. `None` if nothing had to be read back.
    pub read_back: Option<ReadBackCount>,
    /// What streams asked beside the clients. `None` for clients alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports: Option<ReportsLog>,
}

/// Coverage of reading back all acknowledged writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBackCount {
    /// Number of records with an acknowledged write.
    pub written: u64,
    /// Number of these records that were read within the time limit.
    pub read: u64,
}

/// Measurements of one operation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationReport {
    /// Operations that succeeded and, where answers are verified, were answered rightly.
    pub operations: u64,
    /// Documents that the successful operations read or wrote.
    pub documents: u64,
    /// Operations that failed: refused, answered wrongly, timed out or disconnected.
    pub errors: u64,
    /// Operations without an answer within the time limit; included in `errors`.
    pub timeouts: u64,
    /// Operations with a wrong answer; included in `errors`.
    pub wrong: u64,
    /// Successful operations with a stale answer, where that is allowed; not included in `errors`.
    pub stale: u64,
    /// Number of retries after the first try of each operation.
    pub retries: u64,
    /// Histogram of service times in nanoseconds, in the compressed V2 format of HdrHistogram as base64.
    pub service: String,
    /// Histogram of response times, counted from the intended start of each operation. `None` in a closed
    /// loop.
    pub response: Option<String>,
    /// Histogram of the times of failed operations. `None` if none failed.
    pub failed: Option<String>,
}

/// Counters of one second of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialSecond {
    /// Number of operations that ended successfully in this second.
    pub operations: u64,
    /// Number of operations that failed in this second.
    pub errors: u64,
    /// Longest time of these operations in microseconds: response time, or service time in a closed loop.
    pub longest_us: f64,
    /// Largest number of arrivals that waited to begin.
    pub backlog: u64,
    /// Whether the system was writing a checkpoint. `None` if the system did not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<bool>,
    /// Average number of requests in progress on the disk of the data folder. `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_queue: Option<f64>,
}

/// Scheduling of the system's threads by the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Scheduling {
    /// Number of voluntary and involuntary context switches.
    pub context_switches: u64,
    /// Number of moves from one CPU to another. 0 if the kernel does not report it.
    pub migrations: u64,
}

/// Totals of the arrivals of an open loop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ArrivalReport {
    /// Arrivals planned within the measurement window.
    pub planned: u64,
    /// Arrivals that did not begin by the end of the window.
    pub missed: u64,
    /// Arrivals that began and did not end by then. Like missed ones, they count as lower bounds of response
    /// times.
    pub unfinished: u64,
    /// Largest number of arrivals that waited at the same time.
    pub backlog_max: u64,
    /// Number of arrivals that waited when the measurement window began.
    pub backlog_at_start: u64,
    /// Histogram of how late operations were sent although a connection was free, in the format of
    /// [`OperationReport::service`].
    pub lateness: String,
}

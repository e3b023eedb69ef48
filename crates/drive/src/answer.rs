//! What clients have measured.

use std::collections::BTreeMap;

use jsonathlon_worker::protocol::OpUsage;
use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// What came of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Driven {
    /// Threads that the clients were spread over.
    pub threads: u32,
    /// Seconds that were measured, the ramp left out.
    pub measured_s: f64,
    /// By operation. An operation that never ended within the measured time is there with zeros.
    pub operations: BTreeMap<Operation, Measured>,
    /// Second by second from the beginning of the ramp.
    pub seconds: Vec<Second>,
    /// What processes spent while it was measured.
    pub usage: OpUsage,
    /// Bytes that the disk of the system's data was given while it was measured; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_written_bytes: Option<u64>,
    /// Context switches and migrations of the system's processes while it was measured.
    pub scheduling: Option<Scheduling>,
    /// What became of arrivals; none in a closed loop.
    pub arrivals: Option<Arrivals>,
    /// Replaced values that were named twice: one of the two writes was lost.
    pub lost_updates: u64,
    /// Connections that were opened again.
    pub reconnects: u64,
    /// Answers that were wrong, each in a few words; the first of them.
    pub wrong: Vec<String>,
    /// What the system said when it refused, each once with how often.
    pub refusals: BTreeMap<String, u64>,
    /// Whether throughput had become steady before measuring began; none where it was not tested.
    pub steady: Option<bool>,
    /// Records that are there now, as far as writes were acknowledged.
    pub records: u64,
    /// Writes of which nobody knows whether they were done.
    pub unknown_writes: u64,
    /// What was read back at the end, since all connections had been lost.
    pub read_back: Option<ReadBack>,
}

/// Records that were read back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    /// Records of which a write was acknowledged.
    pub written: u64,
    /// As many of them as were read.
    pub read: u64,
}

/// What came of one operation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Done and, where answers are checked, right.
    pub operations: u64,
    /// Documents that these read or wrote.
    pub documents: u64,
    /// Refused, failed, cut off.
    pub errors: u64,
    /// Given up at the time limit; among the errors.
    pub timeouts: u64,
    /// Answered wrongly; among the errors.
    pub wrong: u64,
    /// Answered with something older than was acknowledged, where that is allowed; not among the errors.
    pub stale: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Service times in nanoseconds: a histogram in the compressed V2 format, as base64.
    pub service: String,
    /// Response times, from when each operation was to begin; none in a closed loop.
    pub response: Option<String>,
    /// Times of what failed.
    pub failed: Option<String>,
}

/// One second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Operations that ended well in it.
    pub operations: u64,
    /// And those that failed.
    pub errors: u64,
    /// The longest of them, microseconds: response time, or service time in a closed loop.
    pub longest_us: f64,
    /// The most operations that waited to begin.
    pub backlog: u64,
    /// Whether the system wrote a checkpoint in it; none where it did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<bool>,
    /// Requests that were under way on the disk of the system's data, on average; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_queue: Option<f64>,
}

/// What the kernel did with the system's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Scheduling {
    /// Voluntary and involuntary switches.
    pub context_switches: u64,
    /// Moves from one CPU to another.
    pub migrations: u64,
}

/// What became of arrivals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Arrivals {
    /// Planned within the measured time.
    pub planned: u64,
    /// Not begun by its end.
    pub missed: u64,
    /// Begun and not ended by then; they count as lower bounds, as missed ones do.
    pub unfinished: u64,
    /// The most that waited at a time.
    pub backlog_max: u64,
    /// Those that waited when measuring began.
    pub backlog_at_start: u64,
    /// How late operations were sent for which a connection was free: a histogram like [`Measured::service`].
    pub lateness: String,
}

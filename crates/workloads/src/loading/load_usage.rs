//! Sums up the resource usage of the timed parts of a load.

use std::time::Duration;

use jsonathlon_telemetry::activity::DiskWrites;
use jsonathlon_telemetry::memory::{Memory, PeakSampler};
use jsonathlon_worker::protocol::{LoadReply, OpUsage, SettleReply};

use crate::session::Session;

/// Interval at which the engine's memory is sampled during a load.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);

/// Totals of the timed parts, and the peak memory over all of them.
#[derive(Default)]
pub(super) struct LoadUsage {
    pub(super) seconds: f64,
    /// Part of `seconds` that building indexes took.
    pub(super) index_s: f64,
    /// Part of `seconds` spent in `syncfs`; `None` if no sync was requested.
    pub(super) sync_s: Option<f64>,
    pub(super) cpu_s: Option<f64>,
    pub(super) client_cpu_s: Option<f64>,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: Option<u64>,
    pub(super) peak: Option<Memory>,
}

impl LoadUsage {
    pub(super) fn add_load(&mut self, reply: &LoadReply) {
        self.seconds += reply.seconds;
        self.sync_s = sum(self.sync_s, reply.sync_seconds);
        self.add(&reply.usage);
    }

    pub(super) fn add_index_build(&mut self, reply: &SettleReply) {
        self.seconds += reply.seconds;
        self.index_s += reply.seconds;
        self.add(&reply.usage);
    }

    fn add(&mut self, usage: &OpUsage) {
        self.cpu_s = sum(self.cpu_s, usage.cpu_s);
        self.client_cpu_s = sum(self.client_cpu_s, usage.client_cpu_s);
        self.read_bytes += usage.counters.read_bytes;
    }
}

fn sum(left: Option<f64>, right: Option<f64>) -> Option<f64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left + right),
        (left, right) => left.or(right),
    }
}

/// Samples the engine's memory and counts disk writes during one part of a load.
pub(super) struct LoadWatch {
    sampler: Option<PeakSampler>,
    writes: Option<DiskWrites>,
}

impl LoadWatch {
    pub(super) fn begin(session: &Session<'_>) -> Self {
        let sampler = session.engine_pid().map(|pid| PeakSampler::start(pid, SAMPLE_INTERVAL));
        let writes = (!session.is_remote()).then(|| DiskWrites::begin(session.folder())).flatten();
        Self { sampler, writes }
    }

    pub(super) fn end(self, usage: &mut LoadUsage) {
        if let Some(written) = self.writes.and_then(|writes| writes.bytes()) {
            usage.written_bytes = Some(usage.written_bytes.unwrap_or_default() + written);
        }
        let peak = self.sampler.and_then(PeakSampler::finish);
        let larger = |peak: &Memory| usage.peak.is_none_or(|known| known.pss_bytes < peak.pss_bytes);
        if let Some(peak) = peak.filter(larger) {
            usage.peak = Some(peak);
        }
    }
}

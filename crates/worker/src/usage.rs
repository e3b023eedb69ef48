//! Cost of one request: elapsed time and the kernel's counters, of this process (embedded engine) or of all
//! processes of the session's server. The usage of a remote server is unknown.

use std::time::Duration;

use jsonathlon_driver_api::driver::EngineLocation;
use jsonathlon_telemetry::clock::Clock;
use jsonathlon_telemetry::process::Usage;
use rustix::time::{ClockId, clock_gettime};

use crate::protocol::OpUsage;

/// Clock and counters at the beginning of a measurement.
#[derive(Debug)]
pub struct UsageMeter {
    location: EngineLocation,
    counters: Usage,
    server_cpu: Duration,
    cpu: Duration,
    start: Duration,
}

impl UsageMeter {
    /// Reads the counters and, last, the clock. Reading takes tens of microseconds, for a server
    /// milliseconds, and is not part of the measured time.
    #[must_use]
    pub fn start(clock: &dyn Clock, location: EngineLocation) -> Self {
        let counters = counters(location);
        Self { location, counters, server_cpu: server_cpu(location), cpu: cpu(), start: clock.now() }
    }

    /// Returns the seconds since the start and the usage in that time. Reads the clock first.
    #[must_use]
    pub fn stop(self, clock: &dyn Clock) -> (f64, OpUsage) {
        let seconds = (clock.now() - self.start).as_secs_f64();
        let own_cpu_s = cpu().saturating_sub(self.cpu).as_secs_f64();
        let (cpu_s, client_cpu_s) = match self.location {
            EngineLocation::InProcess => (Some(own_cpu_s), None),
            EngineLocation::Process(_) => {
                let server_cpu_s = server_cpu(self.location).saturating_sub(self.server_cpu).as_secs_f64();
                (Some(server_cpu_s), Some(own_cpu_s))
            }
            EngineLocation::Remote => (None, Some(own_cpu_s)),
        };
        (seconds, OpUsage { cpu_s, client_cpu_s, counters: counters(self.location).since(&self.counters) })
    }
}

/// CPU time of all threads of this process, including ended ones.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // The kernel returns neither negative times nor 1,000,000,000 nanoseconds or more.
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn server_cpu(location: EngineLocation) -> Duration {
    match location {
        EngineLocation::Process(pid) => jsonathlon_telemetry::cpu::of_tree(pid).unwrap_or_default(),
        EngineLocation::InProcess | EngineLocation::Remote => Duration::ZERO,
    }
}

fn counters(location: EngineLocation) -> Usage {
    // Without `/proc` the counters are zeros for the coordinator; the answer is still valid.
    match location {
        EngineLocation::Process(pid) => Usage::of_tree(pid),
        EngineLocation::InProcess => Usage::of_process(std::process::id()),
        EngineLocation::Remote => Ok(Usage::default()),
    }
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use jsonathlon_telemetry::clock::{FakeClock, MonotonicClock};

    use super::*;

    #[test]
    fn seconds_are_the_clocks_and_cpu_is_what_was_burnt() {
        let clock = FakeClock::new();
        let meter = UsageMeter::start(&clock, EngineLocation::InProcess);
        clock.advance(Duration::from_millis(1500));
        let real_clock = MonotonicClock::new();
        let start = real_clock.now();
        while real_clock.now() - start < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        let (seconds, usage) = meter.stop(&clock);
        let (_, remote) = UsageMeter::start(&clock, EngineLocation::Remote).stop(&clock);
        assert!(remote.cpu_s.is_none() && remote.client_cpu_s.is_some());
        assert!((seconds - 1.5).abs() < 1e-9);
        // Other threads of the test program use CPU time too, so there is no upper bound to assert.
        assert!(usage.cpu_s >= Some(0.002), "{usage:?}");
    }
}

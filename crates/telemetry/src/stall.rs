//! Detects stalls of the machine and of a disk during crash tests, where a durability window of milliseconds
//! is checked.
//!
//! The machine stalled if a thread that polls at intervals was not scheduled in time. The disk stalled if
//! requests were in flight and none completed. Both are observed only at each poll, so the results are lower
//! bounds.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::activity::{Requests, device_of};

/// Polls for stalls and keeps the longest ones.
#[derive(Debug)]
pub struct StallWatch {
    device: Option<(u32, u32)>,
    /// Time of the previous poll.
    last_poll: Instant,
    /// Request counters of the disk at the previous poll, and the time since which no request has completed.
    disk: Option<(Requests, Instant)>,
    /// Longest stalls so far; the disk's is `None` if the kernel keeps no counters for it.
    longest: Stalls,
}

/// Longest stalls within the observed time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stalls {
    /// Longest delay of a poll beyond its due time.
    pub machine: Duration,
    /// Longest time without a completed disk request; `None` if the kernel keeps no counters for the disk.
    pub disk: Option<Duration>,
}

impl StallWatch {
    /// Starts observing now, with the disk of `folder`.
    #[must_use]
    pub fn begin(folder: &Path) -> Self {
        let device = device_of(folder);
        let now = Instant::now();
        let disk = device.and_then(Requests::now).map(|requests| (requests, now));
        let longest = Stalls { machine: Duration::ZERO, disk: disk.map(|_| Duration::ZERO) };
        Self { device, last_poll: now, disk, longest }
    }

    /// Polls. The call is due `due` after the previous one; being later counts as a stall of the machine.
    pub fn poll(&mut self, due: Duration) {
        self.record(due, Instant::now(), self.device.and_then(Requests::now));
    }

    fn record(&mut self, due: Duration, now: Instant, requests: Option<Requests>) {
        let delay = now.duration_since(self.last_poll).saturating_sub(due);
        self.longest.machine = self.longest.machine.max(delay);
        self.last_poll = now;
        let (Some(requests), Some((previous, since))) = (requests, self.disk) else { return };
        // The state between two polls is unknown: only requests in flight at both polls, with none completed,
        // count as a stall.
        if requests.in_flight > 0 && previous.in_flight > 0 && requests.completed == previous.completed {
            let duration = now.duration_since(since);
            self.longest.disk = self.longest.disk.max(Some(duration));
            self.disk = Some((requests, since));
        } else {
            self.disk = Some((requests, now));
        }
    }

    /// Longest stalls since [`StallWatch::begin`].
    #[must_use]
    pub fn longest(&self) -> Stalls {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUE: Duration = Duration::from_millis(2);

    fn watch(now: Instant, disk: Option<Requests>) -> StallWatch {
        let longest = Stalls { machine: Duration::ZERO, disk: disk.map(|_| Duration::ZERO) };
        StallWatch { device: None, last_poll: now, disk: disk.map(|disk| (disk, now)), longest }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_look_that_comes_late_is_a_standstill_of_the_machine() {
        let begin = Instant::now();
        let mut watch = watch(begin, None);
        for offset_ms in [2, 4, 156, 158] {
            watch.record(DUE, begin + ms(offset_ms), None);
        }
        assert_eq!(watch.longest(), Stalls { machine: ms(150), disk: None });
    }

    #[test]
    fn a_disk_stands_still_while_requests_wait_and_none_ends() {
        let begin = Instant::now();
        let requests = |in_flight, ended| Some(Requests { in_flight, completed: ended });
        let mut watch = watch(begin, requests(0, 10));
        for (offset_ms, requests) in [
            // Neither an idle disk nor one that completes requests is stalled.
            (2, requests(0, 10)),
            (500, requests(1, 10)),
            (502, requests(3, 11)),
            (504, requests(2, 11)),
            (700, requests(2, 11)),
            (702, requests(1, 12)),
            (704, requests(0, 13)),
        ] {
            watch.record(DUE, begin + ms(offset_ms), requests);
        }
        assert_eq!(watch.longest().disk, Some(ms(198)));
    }

    #[test]
    fn a_disk_that_is_not_counted_is_not_known() {
        let mut watch = StallWatch::begin(Path::new("/proc"));
        watch.poll(DUE);
        assert_eq!(watch.longest().disk, None);
    }
}

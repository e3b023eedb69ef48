//! How long the machine and a disk stood still: what a promise of so many milliseconds is about.
//!
//! The machine stood still while whoever was to look every so often could not: nothing ran it. The disk stood still while
//! requests were under way and none ended. Both are seen only from look to look, and so are lower limits.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::activity::{Requests, device_of};

/// Looks again and again, and keeps the longest standstills.
#[derive(Debug)]
pub struct StallWatch {
    device: Option<(u32, u32)>,
    /// When the last look was.
    looked: Instant,
    /// What the disk had done by then, and since when it has done nothing more.
    disk: Option<(Requests, Instant)>,
    /// The longest of the machine, and of the disk where the kernel counts that.
    longest: Stalls,
}

/// The longest standstills over some time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stalls {
    /// Of the machine.
    pub machine: Duration,
    /// Of the disk; none where the kernel does not count it.
    pub disk: Option<Duration>,
}

impl StallWatch {
    /// Begins now, with the disk of `folder`.
    #[must_use]
    pub fn begin(folder: &Path) -> Self {
        let device = device_of(folder);
        let now = Instant::now();
        let disk = device.and_then(Requests::now).map(|requests| (requests, now));
        let longest = Stalls { machine: Duration::ZERO, disk: disk.map(|_| Duration::ZERO) };
        Self { device, looked: now, disk, longest }
    }

    /// Looks, `due` after the last look: what it comes later than that, the machine stood still.
    pub fn look(&mut self, due: Duration) {
        self.seen(due, Instant::now(), self.device.and_then(Requests::now));
    }

    fn seen(&mut self, due: Duration, now: Instant, requests: Option<Requests>) {
        let late = now.duration_since(self.looked).saturating_sub(due);
        self.longest.machine = self.longest.machine.max(late);
        self.looked = now;
        let (Some(requests), Some((before, since))) = (requests, self.disk) else { return };
        // While nobody looked it may have done anything: only what was under way at both looks, with none ended, stood still.
        if requests.under_way > 0 && before.under_way > 0 && requests.ended == before.ended {
            let stood = now.duration_since(since);
            self.longest.disk = self.longest.disk.max(Some(stood));
            self.disk = Some((requests, since));
        } else {
            self.disk = Some((requests, now));
        }
    }

    /// The longest so far.
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
        StallWatch { device: None, looked: now, disk: disk.map(|disk| (disk, now)), longest }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_look_that_comes_late_is_a_standstill_of_the_machine() {
        let begin = Instant::now();
        let mut watch = watch(begin, None);
        for at in [2, 4, 156, 158] {
            watch.seen(DUE, begin + ms(at), None);
        }
        assert_eq!(watch.longest(), Stalls { machine: ms(150), disk: None });
    }

    #[test]
    fn a_disk_stands_still_while_requests_wait_and_none_ends() {
        let begin = Instant::now();
        let requests = |under_way, ended| Some(Requests { under_way, ended });
        let mut watch = watch(begin, requests(0, 10));
        for (at, seen) in [
            // Idle is no standstill, and neither is work that goes on.
            (2, requests(0, 10)),
            (500, requests(1, 10)),
            (502, requests(3, 11)),
            (504, requests(2, 11)),
            (700, requests(2, 11)),
            (702, requests(1, 12)),
            (704, requests(0, 13)),
        ] {
            watch.seen(DUE, begin + ms(at), seen);
        }
        assert_eq!(watch.longest().disk, Some(ms(198)));
    }

    #[test]
    fn a_disk_that_is_not_counted_is_not_known() {
        let mut watch = StallWatch::begin(Path::new("/proc"));
        watch.look(DUE);
        assert_eq!(watch.longest().disk, None);
    }
}

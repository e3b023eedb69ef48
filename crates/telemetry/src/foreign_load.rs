//! Use of the processors by other programs: everything but this process and its descendants.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::activity;
use crate::clock::Clock;
use crate::process::cpu_s_with_ended_children;
use crate::process_tree::{Children, visit_processes};

/// Length of a measurement.
const WINDOW: Duration = Duration::from_secs(1);
/// Length of a measurement of a machine that is clearly quiet.
const SHORT_WINDOW: Duration = Duration::from_millis(300);
/// Interval between two checks for cancellation.
const STEP: Duration = Duration::from_millis(50);
/// Share of the limits below which a machine is clearly quiet.
const CLEARLY_QUIET_SHARE: f64 = 0.5;

/// Use of the processors by other programs over an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ForeignLoad {
    /// Number of cores of the machine.
    pub cores: f64,
    /// Mean number of cores that other programs kept busy.
    pub busy_cores: f64,
    /// Share of the time of all cores that the hypervisor gave to other machines (CPU steal), 0 to 1.
    pub steal_share: f64,
}

impl ForeignLoad {
    /// Share of the cores above which other programs disturb a measurement.
    pub const MAX_BUSY_SHARE: f64 = 0.5;
    /// CPU steal above which other machines disturb a measurement, as a share of the time of all cores.
    pub const MAX_STEAL_SHARE: f64 = 0.02;

    /// Returns `true` if other programs leave the processors alone.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.is_below(1.0)
    }

    /// Returns `true` if both values are at most this share of their limits.
    fn is_below(&self, share: f64) -> bool {
        self.busy_cores <= share * Self::MAX_BUSY_SHARE * self.cores
            && self.steal_share <= share * Self::MAX_STEAL_SHARE
    }

    /// Returns `true` if other programs of this machine, and not only other machines, use its processors.
    #[must_use]
    pub fn is_busy_with_programs(&self) -> bool {
        self.busy_cores > Self::MAX_BUSY_SHARE * self.cores
    }
}

/// Measures the processor use of all programs that do not descend from one process.
#[derive(Debug, Clone)]
pub struct ForeignLoadMeter {
    proc_folder: PathBuf,
    root: u32,
}

impl Default for ForeignLoadMeter {
    /// Measures this machine, without this process and its descendants.
    fn default() -> Self {
        Self { proc_folder: PathBuf::from("/proc"), root: std::process::id() }
    }
}

impl ForeignLoadMeter {
    /// Measures for about a second, or for a third of it if the machine is clearly quiet. `None` if
    /// `is_cancelled` returned `true` meanwhile.
    ///
    /// # Errors
    /// If `/proc` cannot be read.
    pub fn measure(
        &self,
        clock: &dyn Clock,
        is_cancelled: &dyn Fn() -> bool,
    ) -> io::Result<Option<ForeignLoad>> {
        let start = Counters::read(&self.proc_folder, self.root, clock.now())?;
        for window in [SHORT_WINDOW, WINDOW] {
            while clock.now() < start.at + window {
                if is_cancelled() {
                    return Ok(None);
                }
                clock.sleep(STEP);
            }
            let load = Counters::read(&self.proc_folder, self.root, clock.now())?.since(&start);
            if window == WINDOW || load.is_below(CLEARLY_QUIET_SHARE) {
                return Ok(Some(load));
            }
        }
        Ok(None)
    }
}

/// Cumulative CPU times at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counters {
    at: Duration,
    cores: u64,
    machine: activity::Counters,
    /// Seconds of the own process tree; children that have ended and been waited for count with their parents.
    own_s: f64,
}

impl Counters {
    fn read(proc_folder: &Path, root: u32, at: Duration) -> io::Result<Self> {
        let stat = std::fs::read_to_string(proc_folder.join("stat"))?;
        // After "cpu …" for all of them, there is one line a core (proc_stat(5)).
        let is_core = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
        };
        let cores = stat.lines().filter(is_core).count() as u64;
        if cores == 0 || !stat.lines().any(|line| line.starts_with("cpu ")) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "/proc/stat has no CPU times"));
        }
        let machine = activity::Counters::of_processors(&stat);
        Ok(Self { at, cores, machine, own_s: own_seconds(proc_folder, root)? })
    }

    /// Load between `earlier` and `self`; all zero if no time has passed.
    fn since(&self, earlier: &Self) -> ForeignLoad {
        let cores = self.cores as f64;
        let elapsed_s = self.at.saturating_sub(earlier.at).as_secs_f64();
        if elapsed_s <= 0.0 {
            return ForeignLoad { cores, ..ForeignLoad::default() };
        }
        let activity = self.machine.since(&earlier.machine, elapsed_s);
        let own_cores = (self.own_s - earlier.own_s).max(0.0) / elapsed_s;
        ForeignLoad {
            cores,
            busy_cores: (activity.busy_cores - own_cores).clamp(0.0, cores),
            steal_share: activity.stolen_cores / cores,
        }
    }
}

/// CPU seconds of `root` and all its descendants, by the processes of `proc_folder`.
fn own_seconds(proc_folder: &Path, root: u32) -> io::Result<f64> {
    let (mut seconds, mut children) = (HashMap::new(), Children::default());
    visit_processes(proc_folder, |pid, stat| {
        children.add(pid, stat);
        seconds.insert(pid, cpu_s_with_ended_children(stat).unwrap_or_default());
    })?;
    let own = std::iter::once(root).chain(children.descendants(root));
    Ok(own.filter_map(|pid| seconds.get(&pid)).sum())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::clock::{FakeClock, MonotonicClock};

    /// Writes a `/proc` of two cores with these ticks of the machine, and processes with parent and ticks.
    fn write_proc(folder: &Path, busy: u64, stolen: u64, processes: &[(u32, u32, u64)]) {
        let stat = format!("cpu {busy} 0 0 1000 0 0 0 {stolen} 0 0\ncpu0 1 0 0\ncpu1 1 0 0\nctxt 7\n");
        std::fs::write(folder.join("stat"), stat).unwrap();
        for (pid, parent, ticks) in processes {
            let process = folder.join(pid.to_string());
            std::fs::create_dir_all(&process).unwrap();
            let stat = format!("{pid} (a) b) S {parent} 7 7 0 -1 0 1 0 2 3 {ticks} 0 0 0 20 0 1 0 5 0 0");
            std::fs::write(process.join("stat"), stat).unwrap();
        }
    }

    fn load_between(earlier: &Counters, folder: &Path, seconds: f64) -> ForeignLoad {
        Counters::read(folder, 10, Duration::from_secs_f64(seconds)).unwrap().since(earlier)
    }

    #[test]
    fn what_the_own_tree_uses_is_not_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let ticks = rustix::param::clock_ticks_per_second();
        // Process 10 is this one; 11 and 12 are its child and grandchild, and 20 is another program.
        write_proc(folder.path(), 0, 0, &[(10, 1, 0), (11, 10, 0), (12, 11, 0), (20, 1, 0)]);
        let before = Counters::read(folder.path(), 10, Duration::ZERO).unwrap();
        write_proc(folder.path(), 2 * ticks, 0, &[(10, 1, ticks / 2), (12, 11, ticks), (20, 1, ticks / 2)]);
        let load = load_between(&before, folder.path(), 1.0);
        assert!((load.busy_cores - 0.5).abs() < 1e-9 && load.cores == 2.0 && load.is_quiet(), "{load:?}");
        // Over half a second, the other program's half second is one core: half of the cores, and no more.
        let load = load_between(&before, folder.path(), 0.5);
        assert!((load.busy_cores - 1.0).abs() < 1e-9 && load.is_quiet(), "{load:?}");
        write_proc(folder.path(), 2 * ticks, 0, &[(10, 1, 0), (12, 11, 0), (20, 1, 2 * ticks)]);
        let load = load_between(&before, folder.path(), 1.0);
        assert!((load.busy_cores - 2.0).abs() < 1e-9 && !load.is_quiet(), "{load:?}");
        assert!(load.is_busy_with_programs());
        assert_eq!(load_between(&before, folder.path(), 0.0).busy_cores, 0.0, "no time has passed");
    }

    #[test]
    fn steal_of_more_than_a_fiftieth_is_not_quiet() {
        let folder = tempfile::tempdir().unwrap();
        let ticks = rustix::param::clock_ticks_per_second();
        write_proc(folder.path(), 0, 0, &[(10, 1, 0)]);
        let before = Counters::read(folder.path(), 10, Duration::ZERO).unwrap();
        for (stolen, is_quiet) in [(ticks * 3 / 100, true), (ticks * 5 / 100, false)] {
            write_proc(folder.path(), 0, stolen, &[(10, 1, 0)]);
            let load = load_between(&before, folder.path(), 1.0);
            assert_eq!((load.is_quiet(), load.is_busy_with_programs()), (is_quiet, false), "{load:?}");
        }
    }

    #[test]
    fn a_quiet_machine_is_measured_for_a_part_of_a_second_and_another_for_all_of_it() {
        let folder = tempfile::tempdir().unwrap();
        write_proc(folder.path(), 0, 0, &[(10, 1, 0)]);
        let meter = ForeignLoadMeter { proc_folder: folder.path().to_owned(), root: 10 };
        let clock = FakeClock::new();
        let load = meter.measure(&clock, &|| false).unwrap().unwrap();
        assert!(load.is_quiet() && clock.now() < Duration::from_millis(400), "{:?}", clock.now());
        // The other program runs on both cores after a tenth of a second.
        let looks = AtomicU32::new(0);
        let start = clock.now();
        let busy_later = || {
            if looks.fetch_add(1, Ordering::Relaxed) == 2 {
                write_proc(folder.path(), 2 * rustix::param::clock_ticks_per_second(), 0, &[(10, 1, 0)]);
            }
            false
        };
        let load = meter.measure(&clock, &busy_later).unwrap().unwrap();
        assert!(!load.is_quiet() && clock.now() - start >= WINDOW, "{load:?} {:?}", clock.now());
        assert_eq!(meter.measure(&clock, &|| true).unwrap(), None);
        let nowhere = ForeignLoadMeter { proc_folder: folder.path().join("nowhere"), root: 10 };
        assert!(nowhere.measure(&clock, &|| false).is_err());
    }

    #[test]
    fn this_machine_is_understood() {
        let clock = MonotonicClock::new();
        let load = ForeignLoadMeter::default().measure(&clock, &|| false).unwrap().unwrap();
        assert!(load.cores >= 1.0 && load.busy_cores >= 0.0 && load.busy_cores <= load.cores, "{load:?}");
        assert!(load.steal_share >= 0.0 && clock.now() >= SHORT_WINDOW, "{load:?}");
    }
}

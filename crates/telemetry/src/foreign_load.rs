//! Use of the processors by other programs: everything but this process and its descendants.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::Clock;

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

/// Cumulative CPU times at one moment, in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counters {
    at: Duration,
    cores: u64,
    /// Ticks in user, nice, system, irq and softirq, summed over all cores.
    busy: u64,
    /// Ticks of CPU steal, summed over all cores.
    stolen: u64,
    /// Ticks of the own process tree; children that have ended and been waited for count with their parents.
    own: u64,
}

impl Counters {
    fn read(proc_folder: &Path, root: u32, at: Duration) -> io::Result<Self> {
        let stat = std::fs::read_to_string(proc_folder.join("stat"))?;
        let own = own_ticks(&read_processes(proc_folder)?, root);
        Self::parse(&stat, own, at)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/stat has no CPU times"))
    }

    fn parse(stat: &str, own: u64, at: Duration) -> Option<Self> {
        // "cpu user nice system idle iowait irq softirq steal …", then one line a core (proc_stat(5)).
        let total = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = total.split_whitespace().map_while(|field| field.parse().ok()).collect();
        let tick = |index: usize| ticks.get(index).copied().unwrap_or(0);
        let is_core = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
        };
        let cores = stat.lines().filter(is_core).count() as u64;
        let busy = tick(0) + tick(1) + tick(2) + tick(5) + tick(6);
        (cores > 0).then_some(Self { at, cores, busy, stolen: tick(7), own })
    }

    /// Load between `earlier` and `self`; all zero if no time has passed.
    fn since(&self, earlier: &Self) -> ForeignLoad {
        let cores = self.cores as f64;
        let ticks_per_second = rustix::param::clock_ticks_per_second() as f64;
        let elapsed = self.at.saturating_sub(earlier.at).as_secs_f64() * ticks_per_second;
        if elapsed <= 0.0 {
            return ForeignLoad { cores, ..ForeignLoad::default() };
        }
        let busy = self.busy.saturating_sub(earlier.busy);
        let own = self.own.saturating_sub(earlier.own);
        ForeignLoad {
            cores,
            busy_cores: (busy.saturating_sub(own) as f64 / elapsed).min(cores),
            steal_share: self.stolen.saturating_sub(earlier.stolen) as f64 / (elapsed * cores),
        }
    }
}

/// Parent and CPU time in clock ticks of every process, by pid.
fn read_processes(proc_folder: &Path) -> io::Result<HashMap<u32, (u32, u64)>> {
    let mut processes = HashMap::new();
    for entry in std::fs::read_dir(proc_folder)? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // Processes may end while they are listed.
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok();
        if let Some(process) = stat.as_deref().and_then(parse_process) {
            processes.insert(pid, process);
        }
    }
    Ok(processes)
}

/// Parses parent and CPU time from `/proc/PID/stat` (proc_pid_stat(5)): fields 4 and 14 to 17. The process
/// name in parentheses may contain any character, so fields are counted from the last `)`.
fn parse_process(stat: &str) -> Option<(u32, u64)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let parent = fields.get(1)?.parse().ok()?;
    let ticks = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Some((parent, ticks))
}

/// Ticks of `root` and all its descendants.
fn own_ticks(processes: &HashMap<u32, (u32, u64)>, root: u32) -> u64 {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, (parent, _)) in processes {
        children.entry(*parent).or_default().push(*pid);
    }
    let (mut total, mut pending) = (0, vec![root]);
    while let Some(pid) = pending.pop() {
        total += processes.get(&pid).map_or(0, |(_, ticks)| *ticks);
        // Entries are removed, so that a reused pid cannot form a cycle.
        pending.extend(children.remove(&pid).unwrap_or_default());
    }
    total
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

//! Scheduler counters of process trees: context switches, and migrations between CPUs.

use std::collections::HashMap;
use std::io;

use crate::process::field;
use crate::process_tree::{self, fields_from_state, proc_file};

/// Scheduler counters of all threads of a process tree at one moment.
#[derive(Debug, Clone, Default)]
pub struct Scheduling {
    /// By process, thread and start time: context switches, and migrations if the kernel reports them.
    threads: HashMap<(u32, u32, u64), (u64, Option<u64>)>,
}

/// Scheduler events between two readings of [`Scheduling`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedulingDelta {
    /// Context switches, voluntary and involuntary.
    pub switches: u64,
    /// Migrations from one CPU to another; `None` if the kernel does not report them.
    pub migrations: Option<u64>,
}

impl Scheduling {
    /// Reads the counters of all threads of `root` and its descendants.
    ///
    /// # Errors
    /// If `root` does not exist.
    pub fn of_tree(root: u32) -> io::Result<Self> {
        let mut scheduling = Self::default();
        for (pid, thread) in process_tree::threads(root)? {
            let read = |name: &str| std::fs::read_to_string(proc_file(pid, &format!("task/{thread}/{name}")));
            let (Ok(status), Ok(stat)) = (read("status"), read("stat")) else { continue };
            let switches = field(&status, "voluntary_ctxt_switches:").unwrap_or(0)
                + field(&status, "nonvoluntary_ctxt_switches:").unwrap_or(0);
            let migrations = read("sched").ok().and_then(|text| migrations(&text));
            scheduling.threads.insert((pid, thread, start_time(&stat)), (switches, migrations));
        }
        Ok(scheduling)
    }

    /// Events since `earlier`. Threads that ended in between are not counted; threads that started in between
    /// are counted from their start.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> SchedulingDelta {
        let mut sum = SchedulingDelta::default();
        for (thread, (switches, migrations)) in &self.threads {
            let (previous_switches, previous_migrations) =
                earlier.threads.get(thread).copied().unwrap_or_default();
            sum.switches += switches.saturating_sub(previous_switches);
            if let Some(migrations) = migrations {
                let migrations = migrations.saturating_sub(previous_migrations.unwrap_or(0));
                sum.migrations = Some(sum.migrations.unwrap_or(0) + migrations);
            }
        }
        sum
    }
}

/// Start time of a thread, field 22 of proc_pid_stat(5), in ticks since boot. Distinguishes threads whose
/// number is reused.
fn start_time(stat: &str) -> u64 {
    let ticks = fields_from_state(stat).and_then(|mut fields| fields.nth(19));
    ticks.and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
}

/// Parses `se.nr_migrations : 12` of `/proc/PID/task/TID/sched`, a file that not every kernel has.
fn migrations(sched: &str) -> Option<u64> {
    let line = sched.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit_once(':')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_is_switched_away() {
        let pid = std::process::id();
        let before = Scheduling::of_tree(pid).unwrap();
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let delta = Scheduling::of_tree(pid).unwrap().since(&before);
        assert!(delta.switches >= 20, "{delta:?}");
        assert!(Scheduling::of_tree(u32::MAX - 1).is_err());
    }

    #[test]
    fn a_thread_counts_from_its_start_and_one_whose_number_is_used_again_too() {
        let counters = |threads: &[(u32, u64, u64)]| Scheduling {
            threads: threads
                .iter()
                .map(|(id, start, count)| ((1, *id, *start), (*count, Some(count / 2))))
                .collect(),
        };
        let added = counters(&[(1, 5, 30), (2, 9, 8), (3, 9, 4)]).since(&counters(&[(1, 5, 10), (2, 5, 50)]));
        assert_eq!(added, SchedulingDelta { switches: 32, migrations: Some(10 + 4 + 2) });
        assert_eq!(Scheduling::default().since(&Scheduling::default()).migrations, None);
    }

    #[test]
    fn the_kernels_text_is_read() {
        assert_eq!(
            migrations("a\nse.nr_migrations                             :                   17\nb"),
            Some(17)
        );
        assert_eq!(migrations("se.nr_migrations nothing"), None);
        assert_eq!(start_time("7 (a) b) S 1 7 7 0 -1 4194304 1 0 2 3 4 5 0 0 20 0 1 0 77 8"), 77);
    }
}

//! Tasks of other programs that compete with a run for the cores of the machine.

use std::time::{Duration, Instant};

use crate::process::field;
use crate::process_tree::{fields_from_state, proc_file, threads};

/// Minimum time between two counts, because reading the threads of a large server takes milliseconds.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time from a count that found foreign tasks to the one that confirms them.
const BETWEEN_COUNTS: Duration = Duration::from_millis(2);

/// Counts the tasks of other programs that are running or ready to run. The load average cannot replace this
/// count, because it includes the run itself.
#[derive(Debug, Default)]
pub struct ForeignTasks {
    /// Time and result of the last count.
    last: Option<(Instant, Option<u64>)>,
}

impl ForeignTasks {
    /// Number of runnable tasks that belong neither to this process nor to its descendants. Within a second
    /// of a count, its result is returned again. `None` if `/proc` does not report them.
    pub fn runnable(&mut self) -> Option<u64> {
        if let Some((time, tasks)) = self.last
            && time.elapsed() < INTERVAL
        {
            return tasks;
        }
        let tasks = lasting();
        self.last = Some((Instant::now(), tasks));
        tasks
    }
}

/// Number of foreign tasks that are seen in two counts. A task of the run itself that stops amid a count would
/// be taken for a foreign one, and a program that wakes up for a moment disturbs nothing.
fn lasting() -> Option<u64> {
    match count()? {
        0 => Some(0),
        first => {
            std::thread::sleep(BETWEEN_COUNTS);
            Some(first.min(count()?))
        }
    }
}

fn count() -> Option<u64> {
    let all = field(&std::fs::read_to_string("/proc/stat").ok()?, "procs_running")?;
    let own = threads(std::process::id()).ok()?;
    let own = own.iter().filter(|(process, thread)| is_runnable(*process, *thread)).count() as u64;
    // Tasks may begin or end between the two counts.
    Some(all.saturating_sub(own))
}

fn is_runnable(process: u32, thread: u32) -> bool {
    let stat = std::fs::read_to_string(proc_file(process, &format!("task/{thread}/stat")));
    stat.is_ok_and(|stat| state(&stat) == Some("R"))
}

/// Parses the state of a task.
fn state(stat: &str) -> Option<&str> {
    fields_from_state(stat)?.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_tasks_are_not_among_the_others() {
        let this_thread = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        assert_eq!((state(&this_thread), state("7 (a) b) S 12 7"), state("")), (Some("R"), Some("S"), None));
        let mut tasks = ForeignTasks::default();
        let first = tasks.runnable();
        assert!(first.is_some());
        // A second count within the interval is the first one.
        assert_eq!(tasks.runnable(), first);
    }
}

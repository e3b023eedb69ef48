//! Decides whether other programs or virtual machines disturbed a run.

use jsonathlon_schema::metric::{FOREIGN_TASKS, MACHINE_STEAL_SHARE};
use jsonathlon_schema::record::Trial;
use jsonathlon_telemetry::foreign_load::ForeignLoad;

use crate::run::Run;

/// Share of disturbed trials from which on the machine counts as busy.
const DISTURBED_SHARE: f64 = 0.1;

/// Returns `true` if at least a tenth of the trials were disturbed.
///
/// A trial is disturbed if other programs had more than half a runnable task for each core, or if the
/// hypervisor took more than 2 % of the CPU time. Trials that recorded neither are not counted. The load
/// average is not used, because it includes the run's own processes.
#[must_use]
pub fn machine_was_busy(run: &Run) -> bool {
    let cores = run.manifest.machine.cores.max(1) as f64;
    let is_disturbed: Vec<bool> = run.trials().filter_map(|trial| is_disturbed(trial, cores)).collect();
    let disturbed = is_disturbed.iter().filter(|is_disturbed| **is_disturbed).count();
    disturbed > 0 && disturbed as f64 >= DISTURBED_SHARE * is_disturbed.len() as f64
}

/// Whether a trial was disturbed. `None` if nothing was recorded that would show it.
fn is_disturbed(trial: &Trial, cores: f64) -> Option<bool> {
    let tasks = FOREIGN_TASKS.value(trial).map(|tasks| tasks > ForeignLoad::MAX_BUSY_SHARE * cores);
    let steal = MACHINE_STEAL_SHARE.value(trial).map(|share| share > ForeignLoad::MAX_STEAL_SHARE);
    match (tasks, steal) {
        (None, None) => None,
        (tasks, steal) => Some(tasks.unwrap_or(false) || steal.unwrap_or(false)),
    }
}

//! Adds exhausted resources to a failure's message: disk space, or memory that an engine may use.

use std::cell::Cell;

use jsonathlon_catalogue::bytes;
use jsonathlon_schema::record::Failure;
use jsonathlon_telemetry::{cgroup::Groups, disk, machine};

use super::{Session, TrialError};

/// Below this much free disk space a failure may be due to a full disk. Servers allocate files of 100 MB and
/// more at once, and files that were open are released when they have ended.
const MIN_FREE_BYTES: u64 = 256 << 20;

impl Session<'_> {
    /// Appends disk and memory shortages to a failure's message. A server with a full disk may be unable to
    /// log that, or may exit before it is ready. A killed process logs nothing at all.
    pub(super) fn with_resource_hint(&self, error: TrialError) -> TrialError {
        let TrialError::Failed(Failure { kind, error, .. }) = error else { return error };
        let disk_hint = disk::free_bytes(&self.folder).ok().filter(|free| *free < MIN_FREE_BYTES);
        let disk_hint =
            disk_hint.map(|free| format!("only {free} bytes of disk space left; free some space and retry"));
        let parts = [Some(error), disk_hint, self.killed_for_memory()];
        TrialError::failed(kind, parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// Reason of kills for lack of memory since the last call: the engine's limit, the container's limit, or
    /// no memory left on the machine. `None` if nothing was killed.
    pub(super) fn killed_for_memory(&self) -> Option<String> {
        self.killed_by_own_limit().or_else(|| self.other_reported_kills.since_last_call())
    }

    fn killed_by_own_limit(&self) -> Option<String> {
        let (memory_cgroup, bytes) = (self.memory_cgroup.as_ref()?, self.memory_limit_bytes?);
        let kill_count = memory_cgroup.oom_kills();
        (kill_count > self.reported_cap_kills.replace(kill_count)).then(|| {
            format!(
                "killed by the kernel: memory limit of {} exceeded; raise --memory",
                bytes::to_text(bytes)
            )
        })
    }
}

/// Numbers of processes that the kernel had killed for lack of memory at the last reading.
pub(super) struct Kills {
    groups: Groups,
    in_groups: Cell<u64>,
    on_machine: Cell<u64>,
}

impl Kills {
    /// Reads the current counts as the starting point.
    pub(super) fn current() -> Self {
        let groups = Groups::current();
        let in_groups = Cell::new(groups.oom_kills());
        Self { groups, in_groups, on_machine: Cell::new(machine::killed_for_memory().unwrap_or(0)) }
    }

    /// Message about kills since the last call, and updates the counts; `None` if there were none.
    fn since_last_call(&self) -> Option<String> {
        let in_groups = self.groups.oom_kills();
        let on_machine = machine::killed_for_memory().unwrap_or(0);
        let has_group_kills = in_groups > self.in_groups.replace(in_groups);
        let has_machine_kills = on_machine > self.on_machine.replace(on_machine);
        memory_hint(has_group_kills, has_machine_kills, self.groups.limit_bytes())
    }
}

fn memory_hint(has_group_kills: bool, has_machine_kills: bool, limit: Option<u64>) -> Option<String> {
    match limit {
        Some(bytes) if has_group_kills || has_machine_kills => Some(format!(
            "killed by the kernel: this program and its systems exceeded {:.2} GB together (the limit of \
             their container or control group); lower --memory, load fewer documents, or raise that limit",
            bytes as f64 / 1e9
        )),
        None if has_group_kills || has_machine_kills => Some(
            "the kernel killed processes because the machine ran out of memory; lower --memory, load fewer \
             documents, or stop other programs"
                .to_owned(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_is_told_with_its_limit_and_what_to_do() {
        assert_eq!(memory_hint(false, false, Some(1_200_000_000)), None);
        let message = memory_hint(true, true, Some(1_200_000_000)).unwrap();
        assert!(message.contains("exceeded 1.20 GB together"), "{message}");
        assert!(message.contains("lower --memory"), "{message}");
        let message = memory_hint(false, true, None).unwrap();
        assert!(message.contains("the machine ran out of memory"), "{message}");
    }
}

//! What ran short, which a failure does not always say itself: the disk, or the memory that an engine may have.

use std::cell::Cell;

use jsonathlon_measure::cgroup::Groups;
use jsonathlon_measure::{disk, machine};
use jsonathlon_results::record::Failure;
use jsonathlon_systems::bytes::shown;

use super::{Ended, Session};

/// On a disk with less room than this a failure may be for want of room: servers set files of 100 MB and more aside
/// at once, and what they had open is free again when they have ended.
const NEARLY_FULL: u64 = 256 << 20;

impl Session<'_> {
    /// Whoever fails because the disk is full may have had no room to write that down, or no words for it: a
    /// server may also be gone before it was found to be ready. Whoever is killed says nothing at all.
    pub(super) fn with_what_ran_short(&self, error: Ended) -> Ended {
        let Ended::Failed(Failure { kind, error, .. }) = error else { return error };
        let full = disk::free_bytes(&self.folder).ok().filter(|free| *free < NEARLY_FULL);
        let full =
            full.map(|free| format!("the disk is nearly full, {free} bytes are free: make room for it"));
        let words = [Some(error), full, self.killed_for_memory()];
        Ended::failed(kind, words.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }

    /// What to say of an engine that the kernel has killed for want of memory since this was last asked: because of its cap,
    /// of the container's limit, or because the machine had no more.
    pub(super) fn killed_for_memory(&self) -> Option<String> {
        self.killed_by_cap().or_else(|| self.kills.since_last_asked())
    }

    fn killed_by_cap(&self) -> Option<String> {
        let (cap, bytes) = (self.cap.as_ref()?, self.most_memory?);
        let killed = cap.killed();
        (killed > self.killed.replace(killed)).then(|| {
            format!(
                "the kernel killed it, since it may have {} and needed more: give it more by --memory",
                shown(bytes)
            )
        })
    }
}

/// Counts of processes that the kernel killed for want of memory, as they were when they were last looked at.
pub(super) struct Kills {
    groups: Groups,
    in_groups: Cell<u64>,
    on_machine: Cell<u64>,
}

impl Kills {
    /// As they are now.
    pub(super) fn so_far() -> Self {
        let groups = Groups::own();
        let in_groups = Cell::new(groups.killed());
        Self { groups, in_groups, on_machine: Cell::new(machine::killed_for_memory().unwrap_or(0)) }
    }

    /// What to say of those that came since.
    fn since_last_asked(&self) -> Option<String> {
        let in_groups = self.groups.killed();
        let on_machine = machine::killed_for_memory().unwrap_or(0);
        let is_of_groups = in_groups > self.in_groups.replace(in_groups);
        let is_of_machine = on_machine > self.on_machine.replace(on_machine);
        told(is_of_groups, is_of_machine, self.groups.limit_bytes())
    }
}

fn told(is_of_groups: bool, is_of_machine: bool, limit: Option<u64>) -> Option<String> {
    match limit {
        Some(bytes) if is_of_groups || is_of_machine => Some(format!(
            "the kernel killed it, since this program and its systems may have {:.2} GB together (the limit of their \
             container or control group) and needed more: give systems less by --memory, load fewer documents, or raise \
             that limit",
            bytes as f64 / 1e9
        )),
        None if is_of_groups || is_of_machine => Some(
            "the kernel has killed for want of memory meanwhile, the machine has no more of it: give systems less by \
             --memory, load fewer documents, or stop other programs"
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
        assert_eq!(told(false, false, Some(1_200_000_000)), None);
        let words = told(true, true, Some(1_200_000_000)).unwrap();
        assert!(words.contains("may have 1.20 GB together") && words.contains("less by --memory"), "{words}");
        let words = told(false, true, None).unwrap();
        assert!(words.contains("the machine has no more of it"), "{words}");
    }
}

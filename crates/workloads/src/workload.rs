//! What a workload is to the program: a name, the configurations it takes, the trials it plans, and how it runs them.

use jsonathlon_dataset::stage::{Blind, Observe};

use crate::RunError;
use crate::bench::Bench;
use crate::recorder::Recorder;
use crate::target::Target;

/// A workload.
///
/// It knows no protocol and no system: it fills the statements of a configuration's folder and hands them to a
/// session.
pub trait Workload {
    /// Its name in records, in systems' folders and on the command line.
    fn name(&self) -> &'static str;

    /// The part of systems' folders that it takes: that of its own name, unless it shares another workload's.
    fn part(&self) -> &'static str {
        self.name()
    }

    /// Its settings, as they are kept in the manifest under its name.
    fn settings(&self) -> serde_json::Value;

    /// Why it cannot run on a target; none when it can.
    fn refuses(&self, target: &Target) -> Option<String>;

    /// Traits with which a document is offered to a target on its own, beyond the standard ones.
    fn suspects(&self, target: &Target) -> Vec<String> {
        let _ = target;
        Vec::new()
    }

    /// Bytes on the disk that a run needs over `documents` bytes of documents with so many systems.
    fn room(&self, documents: u64, systems: u64) -> u64 {
        // The documents themselves; and for each system these, an index, and the log or the old copies that stay until they
        // are cleaned up.
        documents.saturating_mul(1 + 3 * systems)
    }

    /// What to choose where there is not so much.
    fn less(&self) -> &'static str {
        "a smaller --scale"
    }

    /// Who looks at the documents while they are staged.
    fn observer(&mut self) -> Box<dyn Observe + '_> {
        Box::new(Blind)
    }

    /// The keys of all trials that must end for a run to be complete.
    fn keys(&self, bench: &Bench<'_>) -> Vec<String>;

    /// Runs whatever has no record yet.
    ///
    /// # Errors
    /// What ends a whole run; failed trials are records and no error.
    fn run(&self, bench: &Bench<'_>, recorder: &mut Recorder<'_>) -> Result<(), RunError>;
}

//! The interface between a run and its workload: name, supported targets, planned trials, execution.

use std::path::Path;

use jsonathlon_dataset::source::Source;
use jsonathlon_dataset::stage::{DocumentVisitor, IgnoreDocuments, StagedDocuments};
use jsonathlon_schema::settings::WorkloadSettings;

use crate::RunError;
use crate::expected_time::{ExpectedTime, RunOutline};
use crate::observer::Observer;
use crate::recorder::TrialRecorder;
use crate::run_context::RunContext;
use crate::target::Target;

/// What a workload may use while it prepares staged documents.
pub struct Preparation<'a> {
    /// Targets of the run.
    pub targets: &'a [Target],
    /// Folder for temporary files, which is emptied after the run.
    pub folder: &'a Path,
    /// Seed of the run.
    pub seed: u64,
    /// Receives the progress of the preparation.
    pub observer: &'a mut dyn Observer,
    /// Returns `true` if the user has interrupted the run.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// A benchmark workload, independent of protocols and systems.
///
/// An implementation fills the statements of a configuration's folder and passes them to a session.
pub trait Workload {
    /// Name in the journal, in systems' folders and on the command line.
    fn name(&self) -> &'static str;

    /// Name of the workload setup in systems' folders that this workload uses. Defaults to [`Self::name`]; a
    /// workload that shares another workload's setup overrides it.
    fn section_name(&self) -> &'static str {
        self.name()
    }

    /// Settings of this workload, for the manifest.
    ///
    /// # Errors
    /// If they have no form as JSON.
    fn settings(&self) -> Result<WorkloadSettings, serde_json::Error>;

    /// Why this workload cannot run on `target`; `None` if it can.
    fn unsupported_reason(&self, target: &Target) -> Option<String>;

    /// Names of document traits that make a document a suspect for `target`, beyond the standard ones. None
    /// by default.
    fn suspects(&self, target: &Target) -> Vec<String> {
        let _ = target;
        Vec::new()
    }

    /// Disk space in bytes that a run with `documents` bytes of documents and `systems` configurations needs.
    fn required_disk_bytes(&self, documents: u64, systems: u64) -> u64 {
        // One copy of the documents; for each system the data, an index, and the WAL or the old versions that
        // remain until they are cleaned up.
        documents.saturating_mul(1 + 3 * systems)
    }

    /// Advice for the user if the disk space does not suffice, as the object of "choose …".
    fn size_option_hint(&self) -> &'static str {
        "a smaller --scale"
    }

    /// Observer that receives every non-suspect document during staging. By default, documents are ignored.
    fn observer(&mut self) -> Box<dyn DocumentVisitor + '_> {
        Box::new(IgnoreDocuments)
    }

    /// Changes the staged documents into those that systems load, and completes the settings by what they
    /// show. Called once, before [`Self::settings`] is written to the manifest; a resumed run must come to the
    /// same documents. By default, systems load what was staged.
    ///
    /// # Errors
    /// If the documents do not suit the settings.
    fn prepare(
        &mut self,
        staged: StagedDocuments,
        preparation: &mut Preparation<'_>,
    ) -> Result<StagedDocuments, RunError> {
        let _ = preparation;
        Ok(staged)
    }

    /// Describes the documents for readers. By default, their source.
    fn describe_documents(&self, source: &Source) -> String {
        source.to_string()
    }

    /// Whether its results are times, so that other programs on the machine disturb them. `true` by default.
    fn measures_times(&self) -> bool {
        true
    }

    /// How long a run of this outline is expected to take, turn by turn.
    fn expected_time(&self, outline: &RunOutline<'_>) -> ExpectedTime;

    /// Keys of all trials that must have a terminal record for a run to be complete.
    fn planned_keys(&self, context: &RunContext<'_>) -> Vec<String>;

    /// Runs every planned trial that the journal does not contain yet.
    ///
    /// # Errors
    /// If the whole run must end. A failed trial is recorded and is not an error.
    fn run(&self, context: &RunContext<'_>, recorder: &mut TrialRecorder<'_>) -> Result<(), RunError>;
}

//! Loads suspects on trial first, then loads the accepted ones like any other document.
//!
//! Objects are tried together in a temporary table. If the system rejects them or stores another number of
//! documents, ever smaller parts are tried, so that no suspect makes good documents fail. Other JSON values
//! are tried alone, after an object: row formats read an array at the beginning of a file as a list of
//! documents.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use jsonathlon_dataset::scan::Traits;
use jsonathlon_dataset::stage::{StagedDocuments, Suspect};

use super::file::{ONE_DOCUMENT_LIMIT, load_file, probe_file, rejected_lines, remove};
use super::load_usage::LoadUsage;
use super::reject_search::{self, ProbeOutcome, RejectedDocument};
use crate::RunError;
use crate::observer::RunEvent;
use crate::recorder::TrialRecorder;
use crate::run_context::TABLE;
use crate::scratch::sibling_path;
use crate::session::{Session, TrialError};

/// A document that every system accepts; it precedes a value that is not an object.
const EMPTY_OBJECT: &[u8] = b"{}";

/// Result of loading the suspects on trial.
#[derive(Default)]
pub(super) struct SuspectCheck {
    /// Indices into [`StagedDocuments::suspects`] of the accepted suspects, ascending.
    pub(super) accepted: Vec<usize>,
    /// Rejected suspects, by their number among the offered documents.
    pub(super) rejected: Vec<RejectedDocument>,
    /// Whether all accepted objects can be loaded by one statement.
    can_load_together: bool,
}

impl SuspectCheck {
    fn reject(&mut self, staged: &StagedDocuments, index: usize, reason: String) {
        self.accepted.retain(|accepted| *accepted != index);
        if let Some(suspect) = staged.suspects.get(index) {
            self.rejected.push(RejectedDocument { ordinal: suspect.ordinal, reason });
        }
    }
}

/// Finds out which suspects the system accepts.
pub(super) fn check(
    session: &mut Session<'_>,
    staged: &StagedDocuments,
    recorder: &mut TrialRecorder<'_>,
) -> Result<SuspectCheck, TrialError> {
    let accepted = (0..staged.suspects.len()).collect();
    let mut suspect_check = SuspectCheck { accepted, rejected: Vec::new(), can_load_together: true };
    let (objects, other_values) = split_by_type(staged, &suspect_check.accepted);
    if !objects.is_empty() {
        let file = file_of(session);
        write(staged, &objects, &file)?;
        let scratch = sibling_path(session.folder(), "part");
        let rejected =
            reject_search::find(&file, &scratch, usize::MAX, &mut |part| probe_file(session, part, recorder));
        remove(&scratch)?;
        for rejection in rejected? {
            if let Some(index) = usize::try_from(rejection.ordinal).ok().and_then(|line| objects.get(line)) {
                suspect_check.reject(staged, *index, rejection.reason);
            }
        }
        let (accepted_objects, _) = split_by_type(staged, &suspect_check.accepted);
        if !accepted_objects.is_empty() && accepted_objects.len() < objects.len() {
            // So far the accepted objects were only tried in parts.
            write(staged, &accepted_objects, &file)?;
            let outcome = probe_file(session, &file, recorder)?;
            suspect_check.can_load_together =
                matches!(outcome, ProbeOutcome::RejectedLines(rejected) if rejected.is_empty());
        }
        remove(&file)?;
    }
    for (position, index) in other_values.iter().enumerate() {
        recorder.observer.event(&RunEvent::Progress {
            done: position as u64,
            total: Some(other_values.len() as u64),
            unit: "documents that are no objects",
        });
        if let Some(reason) = test_after_object(session, staged, *index, recorder)? {
            suspect_check.reject(staged, *index, reason);
        }
    }
    Ok(suspect_check)
}

/// Tries one document after an object; returns the reason if the system rejects it, else `None`.
fn test_after_object(
    session: &mut Session<'_>,
    staged: &StagedDocuments,
    index: usize,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Option<String>, TrialError> {
    let file = file_of(session);
    let mut content = EMPTY_OBJECT.to_vec();
    content.push(b'\n');
    content.extend(bytes_of(staged, index)?);
    content.push(b'\n');
    std::fs::write(&file, content).map_err(RunError::io(format!("write {}", file.display())))?;
    let outcome = probe_file(session, &file, recorder);
    remove(&file)?;
    Ok(match outcome? {
        ProbeOutcome::RejectedLines(rejected) => {
            rejected.into_iter().find(|rejection| rejection.ordinal == 1).map(|rejection| rejection.reason)
        }
        ProbeOutcome::RejectedWhole(reason) => Some(reason),
    })
}

/// Loads the accepted suspects into the table: objects together, other values one by one. Suspects that are
/// rejected after all move to `rejected`.
pub(super) fn load(
    session: &mut Session<'_>,
    staged: &StagedDocuments,
    suspect_check: &mut SuspectCheck,
    usage: &mut LoadUsage,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), TrialError> {
    let (objects, other_values) = split_by_type(staged, &suspect_check.accepted);
    let one_per_part = |indices: Vec<usize>| indices.into_iter().map(|index| vec![index]).collect::<Vec<_>>();
    let mut parts = if suspect_check.can_load_together { vec![objects] } else { one_per_part(objects) };
    parts.extend(one_per_part(other_values));
    let file = file_of(session);
    for indices in parts.into_iter().filter(|indices| !indices.is_empty()) {
        write(staged, &indices, &file)?;
        let count = u32::try_from(indices.len()).unwrap_or(u32::MAX);
        let limit = ONE_DOCUMENT_LIMIT.saturating_mul(count);
        let reply = load_file(session, TABLE, &file, Some(indices.len() as u64), limit, recorder);
        remove(&file)?;
        let reply = reply?;
        usage.add_load(&reply);
        for rejection in rejected_lines(&reply) {
            if let Some(index) = usize::try_from(rejection.ordinal).ok().and_then(|line| indices.get(line)) {
                suspect_check.reject(staged, *index, rejection.reason);
            }
        }
    }
    Ok(())
}

/// Splits suspects into objects and other JSON values.
fn split_by_type(staged: &StagedDocuments, indices: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let is_object = |suspect: Option<&Suspect>| {
        suspect.is_some_and(|suspect| !suspect.traits.intersects(Traits::NOT_OBJECT))
    };
    indices.iter().partition(|index| is_object(staged.suspects.get(**index)))
}

fn file_of(session: &Session<'_>) -> PathBuf {
    sibling_path(session.folder(), "suspects")
}

fn bytes_of(staged: &StagedDocuments, index: usize) -> Result<Vec<u8>, RunError> {
    match staged.suspects.get(index) {
        Some(suspect) => staged.suspect_bytes(suspect).map_err(RunError::io("read a suspect document")),
        None => Ok(Vec::new()),
    }
}

fn write(staged: &StagedDocuments, indices: &[usize], path: &Path) -> Result<(), RunError> {
    let failed = || RunError::io(format!("write {}", path.display()));
    let mut file = BufWriter::new(File::create(path).map_err(failed())?);
    for index in indices {
        let bytes = bytes_of(staged, *index)?;
        file.write_all(&bytes).and_then(|()| file.write_all(b"\n")).map_err(failed())?;
    }
    file.flush().map_err(failed())
}

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

use super::file::{ONE_DOCUMENT_LIMIT, load_file, on_trial, refused_lines, remove};
use super::reject_search::{self, Outcome, RejectedDocument};
use super::spent::Spent;
use crate::RunError;
use crate::observer::RunEvent;
use crate::recorder::TrialRecorder;
use crate::run_context::TABLE;
use crate::scratch::beside;
use crate::session::{Session, TrialError};

/// A document that every system accepts; it precedes a value that is not an object.
const OBJECT: &[u8] = b"{}";

/// Result of loading the suspects on trial.
#[derive(Default)]
pub(super) struct Tried {
    /// Indices into [`StagedDocuments::suspects`] of the accepted suspects, ascending.
    pub(super) accepted: Vec<usize>,
    /// Rejected suspects, by their number among the offered documents.
    pub(super) refused: Vec<RejectedDocument>,
    /// Whether all accepted objects can be loaded by one statement.
    together: bool,
}

impl Tried {
    fn refuse(&mut self, staged: &StagedDocuments, place: usize, reason: String) {
        self.accepted.retain(|accepted| *accepted != place);
        if let Some(suspect) = staged.suspects.get(place) {
            self.refused.push(RejectedDocument { ordinal: suspect.ordinal, reason });
        }
    }
}

/// Finds out which suspects the system accepts.
pub(super) fn try_out(
    session: &mut Session<'_>,
    staged: &StagedDocuments,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Tried, TrialError> {
    let mut tried =
        Tried { accepted: (0..staged.suspects.len()).collect(), refused: Vec::new(), together: true };
    let (objects, others) = by_form(staged, &tried.accepted);
    if !objects.is_empty() {
        let file = file_of(session);
        write(staged, &objects, &file)?;
        let scratch = beside(session.folder(), "part");
        let found =
            reject_search::find(&file, &scratch, usize::MAX, &mut |part| on_trial(session, part, recorder));
        remove(&scratch)?;
        for one in found? {
            if let Some(place) = usize::try_from(one.ordinal).ok().and_then(|line| objects.get(line)) {
                tried.refuse(staged, *place, one.reason);
            }
        }
        let (kept, _) = by_form(staged, &tried.accepted);
        if !kept.is_empty() && kept.len() < objects.len() {
            // So far the accepted objects were only tried in parts.
            write(staged, &kept, &file)?;
            let outcome = on_trial(session, &file, recorder)?;
            tried.together = matches!(outcome, Outcome::Lines(refused) if refused.is_empty());
        }
        remove(&file)?;
    }
    for (done, place) in others.iter().enumerate() {
        recorder.observer.event(&RunEvent::Progress {
            done: done as u64,
            total: Some(others.len() as u64),
            unit: "documents that are no objects",
        });
        if let Some(reason) = behind_an_object(session, staged, *place, recorder)? {
            tried.refuse(staged, *place, reason);
        }
    }
    Ok(tried)
}

/// Tries one document after an object; returns the reason if the system rejects it, else `None`.
fn behind_an_object(
    session: &mut Session<'_>,
    staged: &StagedDocuments,
    place: usize,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Option<String>, TrialError> {
    let file = file_of(session);
    let mut text = OBJECT.to_vec();
    text.push(b'\n');
    text.extend(bytes_of(staged, place)?);
    text.push(b'\n');
    std::fs::write(&file, text).map_err(RunError::io(format!("write {}", file.display())))?;
    let outcome = on_trial(session, &file, recorder);
    remove(&file)?;
    Ok(match outcome? {
        Outcome::Lines(refused) => refused.into_iter().find(|one| one.ordinal == 1).map(|one| one.reason),
        Outcome::Whole(reason) => Some(reason),
    })
}

/// Loads the accepted suspects into the table: objects together, other values one by one. Suspects that are
/// rejected after all move to `refused`.
pub(super) fn load(
    session: &mut Session<'_>,
    staged: &StagedDocuments,
    tried: &mut Tried,
    spent: &mut Spent,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), TrialError> {
    let (objects, others) = by_form(staged, &tried.accepted);
    let alone = |places: Vec<usize>| places.into_iter().map(|place| vec![place]).collect::<Vec<_>>();
    let mut parts = if tried.together { vec![objects] } else { alone(objects) };
    parts.extend(alone(others));
    let file = file_of(session);
    for places in parts.into_iter().filter(|places| !places.is_empty()) {
        write(staged, &places, &file)?;
        let times = u32::try_from(places.len()).unwrap_or(u32::MAX);
        let limit = ONE_DOCUMENT_LIMIT.saturating_mul(times);
        let loaded = load_file(session, TABLE, &file, limit, recorder);
        remove(&file)?;
        let loaded = loaded?;
        spent.loading(&loaded);
        for one in refused_lines(&loaded) {
            if let Some(place) = usize::try_from(one.ordinal).ok().and_then(|line| places.get(line)) {
                tried.refuse(staged, *place, one.reason);
            }
        }
    }
    Ok(())
}

/// Splits suspects into objects and other JSON values.
fn by_form(staged: &StagedDocuments, places: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let is_object =
        |suspect: Option<&Suspect>| suspect.is_some_and(|one| !one.traits.intersects(Traits::NOT_OBJECT));
    places.iter().partition(|place| is_object(staged.suspects.get(**place)))
}

fn file_of(session: &Session<'_>) -> PathBuf {
    beside(session.folder(), "suspects")
}

fn bytes_of(staged: &StagedDocuments, place: usize) -> Result<Vec<u8>, RunError> {
    match staged.suspects.get(place) {
        Some(suspect) => staged.suspect_bytes(suspect).map_err(RunError::io("read a suspect document")),
        None => Ok(Vec::new()),
    }
}

fn write(staged: &StagedDocuments, places: &[usize], path: &Path) -> Result<(), RunError> {
    let failed = || RunError::io(format!("write {}", path.display()));
    let mut file = BufWriter::new(File::create(path).map_err(failed())?);
    for place in places {
        let bytes = bytes_of(staged, *place)?;
        file.write_all(&bytes).and_then(|()| file.write_all(b"\n")).map_err(failed())?;
    }
    file.flush().map_err(failed())
}

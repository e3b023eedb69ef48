//! Jobs that are not done: what cannot be measured, and what could not be checked.

use jsonathlon_dataset::records::{Kind, Written};

use crate::job::Job;
use crate::operation::Operation;
use crate::paths::Paths;

/// Which values of documents a mix changes.
///
/// # Errors
/// It changes different ones, and nobody could say which a reader must find.
pub(crate) fn written_by(job: &Job, paths: &Paths) -> Result<Written, String> {
    let mut written = Written::Nothing;
    for (operation, _) in &job.mix.shares {
        let by = match (operation, paths.set_by(*operation)) {
            (Operation::UpdateAll, _) => Written::All,
            (_, Some(path)) => Written::Path(path),
            _ => continue,
        };
        written = both(written, by).ok_or_else(|| {
            format!(
                "the mix {} sets different values of a document, so that answers cannot be checked: use one of update, \
                 update-path, update-element and update-all",
                job.mix.name
            )
        })?;
    }
    Ok(written)
}

/// What two mixes over the same data change; none where that is not the same.
pub(crate) fn both(one: Written, other: Written) -> Option<Written> {
    match (one, other) {
        (Written::Nothing, other) => Some(other),
        (one, Written::Nothing) => Some(one),
        (one, other) => (one == other).then_some(one),
    }
}

/// Whether a mix has an operation.
pub(crate) fn has(job: &Job, operation: Operation) -> bool {
    job.mix.shares.iter().any(|(one, _)| *one == operation)
}

/// What still holds of the records while a job is under way, whatever it and earlier ones over the same data change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holds {
    /// Every document that was loaded is there, with what searches look for.
    pub(crate) is_searchable: bool,
    /// None has come and none has gone.
    pub(crate) is_as_loaded: bool,
}

/// Refuses what can be neither measured nor checked.
///
/// # Errors
/// What is wrong.
pub(crate) fn check(job: &Job, holds: Holds) -> Result<(), String> {
    job.arrival.check()?;
    job.stop.check()?;
    if job.clients == 0 {
        return Err("no client: use at least one".to_owned());
    }
    if !(job.ramp_s >= 0.0 && job.ramp_s.is_finite()) {
        return Err(format!("a ramp of {} seconds: use 0 or more", job.ramp_s));
    }
    if !(job.timeout_s > 0.0 && job.timeout_s.is_finite()) {
        return Err(format!("a time limit of {} seconds: use one above 0", job.timeout_s));
    }
    for (place, (operation, _)) in job.mix.shares.iter().enumerate() {
        if job.mix.shares[..place].iter().any(|(before, _)| before == operation) {
            return Err(format!("the mix {} has {operation} twice", job.mix.name));
        }
        let Some(script) = job.scripts.get(operation) else {
            return Err(format!("the mix {} has {operation}, for which there is no statement", job.mix.name));
        };
        check_one(*operation, script, job, holds)?;
    }
    Ok(())
}

fn check_one(
    operation: Operation,
    script: &crate::job::Script,
    job: &Job,
    holds: Holds,
) -> Result<(), String> {
    let is_insert = matches!(operation, Operation::Insert | Operation::InsertBatch);
    if job.loaded == 0 && !is_insert {
        return Err(format!("{operation} needs records, and none were loaded"));
    }
    let has_items = matches!(job.records.kind, Kind::Items { .. });
    match operation {
        Operation::Unwrap | Operation::UnwrapAll | Operation::UpdateElement if !has_items => {
            Err(format!("{operation} needs documents with elements: use documents of kind items"))
        }
        Operation::Unwrap if script.statements.iter().any(|text| text.contains("{{condition}}")) => {
            Err("unwrap cannot be checked with a condition of its own: elements follow from the key"
                .to_owned())
        }
        Operation::Find | Operation::Count if job.verify && !holds.is_searchable => Err(format!(
            "{operation} cannot be checked where documents were deleted or replaced as a whole: load again"
        )),
        Operation::UnwrapAll if job.verify && !holds.is_as_loaded => Err(format!(
            "{operation} cannot be checked where documents are inserted or deleted: load again, and keep inserts and \
             deletes out of its mix"
        )),
        _ => Ok(()),
    }
}

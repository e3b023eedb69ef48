//! Validation of jobs: refuses what cannot be measured and what cannot be verified.

use jsonathlon_dataset::own_records::{Need, OwnRecordSet};
use jsonathlon_dataset::records::{Kind, WriteScope};

use crate::job::{Job, JobRecords};
use crate::loaded_records::need_of;
use crate::operation::Operation;
use crate::paths::Paths;

/// Determines which values of the documents a mix changes.
///
/// # Errors
/// If operations of the mix set different values, because then the expected value of a read would be unknown.
pub(crate) fn write_scope_of(job: &Job, paths: &Paths) -> Result<WriteScope, String> {
    let mut write_scope = WriteScope::Nothing;
    if matches!(job.records, JobRecords::Own { .. }) {
        // All writes of own documents set the update path.
        return Ok(write_scope);
    }
    for (operation, _) in &job.mix.shares {
        let scope = match (operation, paths.path_set_by(*operation)) {
            (Operation::UpdateAll, _) => WriteScope::All,
            (_, Some(path)) => WriteScope::Path(path),
            _ => continue,
        };
        write_scope = merge_write_scopes(write_scope, scope).ok_or_else(|| {
            format!(
                "the mix {} sets different values of a document, so that answers cannot be checked: use one of update, \
                 update-path, update-element and update-all",
                job.mix.name
            )
        })?;
    }
    Ok(write_scope)
}

/// Combines the values that two mixes change over the same data. `None` if both change values and not the
/// same ones.
pub(crate) fn merge_write_scopes(first: WriteScope, second: WriteScope) -> Option<WriteScope> {
    match (first, second) {
        (WriteScope::Nothing, second) => Some(second),
        (first, WriteScope::Nothing) => Some(first),
        (first, second) => (first == second).then_some(first),
    }
}

/// Returns `true` if the job's mix contains the operation.
pub(crate) fn mix_contains(job: &Job, operation: Operation) -> bool {
    job.mix.shares.iter().any(|(candidate, _)| *candidate == operation)
}

/// Checks whether the operations of a job's mix can be run over these own documents.
///
/// # Errors
/// If an operation needs generated documents, or documents that there are none of.
pub(crate) fn validate_own(job: &Job, set: &OwnRecordSet) -> Result<(), String> {
    for (operation, _) in &job.mix.shares {
        if let Some(obstacle) = operation.own_documents_obstacle() {
            return Err(format!("{operation} cannot be run over own documents: {obstacle}"));
        }
        let records = set.records();
        let writes_value = operation.writes() && need_of(*operation) == Need::Updatable;
        if writes_value && records.update.is_none() {
            return Err(format!(
                "{operation} needs a value that can bear a version: name its path by `--update`"
            ));
        }
        if *operation == Operation::ReadPaths && records.paths.is_empty() {
            return Err(format!("{operation} needs scalar values that nearly all documents have in common"));
        }
        let has_update = records.update.is_some();
        let need = match operation {
            Operation::Insert | Operation::InsertBatch if has_update => Need::Updatable,
            other => need_of(*other),
        };
        if set.count(need) == 0 {
            let lack = match need {
                Need::Present => "no document was there after the load",
                Need::Updatable => "the load left no document with a value at the update path",
            };
            return Err(format!("{operation} cannot be checked: {lack}"));
        }
    }
    Ok(())
}

/// Properties of the records that hold throughout a job, after all earlier jobs over the same data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DataInvariants {
    /// Whether every loaded document exists with the value that find and count search for.
    pub(crate) is_searchable: bool,
    /// Whether no record was inserted or deleted since the load.
    pub(crate) is_as_loaded: bool,
}

/// Checks whether a job can be measured and verified.
///
/// # Errors
/// If arrival, stop condition, number of clients, warm-up or time limit are invalid, the mix has an operation
/// twice or without statements, or an operation's answers cannot be verified on this data.
pub(crate) fn validate_job(job: &Job, invariants: DataInvariants) -> Result<(), String> {
    job.arrival.check()?;
    job.stop.check()?;
    if job.clients == 0 {
        return Err("no client: use at least one".to_owned());
    }
    if !(job.ramp_s >= 0.0 && job.ramp_s.is_finite()) {
        return Err(format!("a warm-up of {} seconds: use 0 or more", job.ramp_s));
    }
    if !(job.timeout_s > 0.0 && job.timeout_s.is_finite()) {
        return Err(format!("a time limit of {} seconds: use one above 0", job.timeout_s));
    }
    for (index, (operation, _)) in job.mix.shares.iter().enumerate() {
        if job.mix.shares[..index].iter().any(|(earlier, _)| earlier == operation) {
            return Err(format!("the mix {} has {operation} twice", job.mix.name));
        }
        let Some(script) = job.scripts.get(operation) else {
            return Err(format!("the mix {} has {operation}, for which there is no statement", job.mix.name));
        };
        validate_operation(*operation, script, job, invariants)?;
    }
    Ok(())
}

fn validate_operation(
    operation: Operation,
    script: &crate::job::OperationScript,
    job: &Job,
    invariants: DataInvariants,
) -> Result<(), String> {
    let is_insert = matches!(operation, Operation::Insert | Operation::InsertBatch);
    if job.loaded == 0 && !is_insert {
        return Err(format!("{operation} needs records, and none were loaded"));
    }
    let has_items = job.records.generated().is_some_and(|records| matches!(records.kind, Kind::Items { .. }));
    match operation {
        Operation::Unwrap | Operation::UnwrapAll | Operation::UpdateElement if !has_items => {
            Err(format!("{operation} needs documents with elements: use documents of kind items"))
        }
        Operation::Unwrap if script.statements.iter().any(|text| text.contains("{{condition}}")) => {
            Err("unwrap cannot be checked with a condition of its own: elements follow from the key"
                .to_owned())
        }
        Operation::Find | Operation::Count if job.verify && !invariants.is_searchable => Err(format!(
            "{operation} cannot be checked where documents were deleted or replaced as a whole: load again"
        )),
        Operation::UnwrapAll if job.verify && !invariants.is_as_loaded => Err(format!(
            "{operation} cannot be checked where documents are inserted or deleted: load again, and keep inserts and \
             deletes out of its mix"
        )),
        _ => Ok(()),
    }
}

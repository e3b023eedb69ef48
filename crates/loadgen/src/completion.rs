//! Completion of operations: verifies the answer and settles the versions of its writes.

use crate::job_context::JobContext;
use crate::operation::Operation;
use crate::recorder::{LatencyRecorder, OperationOutcome, OperationTotals};
use crate::script::{OperationPlan, ParameterSource};
use crate::task::Task;

/// Outcome of an operation whose statements have all been answered.
#[derive(Debug)]
pub(crate) enum Completion {
    /// The operation is complete with this outcome.
    Done(OperationOutcome),
    /// The value to be replaced had changed in between; the operation may be retried. Holds the message.
    Conflict(String),
}

/// Decides how an operation ends after its last statement, and settles the versions of its writes.
#[inline]
pub(crate) fn complete(
    shared: &JobContext<'_>,
    plan: &OperationPlan,
    task: &mut Task,
    recorder: &mut LatencyRecorder,
) -> Completion {
    if plan.operation.writes() {
        return complete_write(shared, plan, task, recorder);
    }
    if let Some(message) = task.answer.error.take() {
        return Completion::Done(OperationOutcome::Wrong(message));
    }
    if task.answer.rows == 0 && plan.operation == Operation::Count {
        return Completion::Done(OperationOutcome::Wrong(format!("{} was not answered", plan.operation)));
    }
    Completion::Done(OperationOutcome::Done)
}

fn complete_write(
    shared: &JobContext<'_>,
    plan: &OperationPlan,
    task: &mut Task,
    recorder: &mut LatencyRecorder,
) -> Completion {
    let expected = task.record_count as u64;
    let changed = task.changed_documents.unwrap_or(expected);
    let operation = plan.operation;
    if changed == 0 && plan.needs(ParameterSource::Old) && task.replaced_version.is_some() {
        return Completion::Conflict("another write came between".to_owned());
    }
    let verify = shared.job.verify;
    let mut wrong_answer = task.answer.error.take();
    let replaced_version = task.replaced_version;
    let read = task.read_token;
    let key = if changed == expected { String::new() } else { task.first_key() };
    for record in &mut task.records[..task.record_count] {
        let Some(write) = record.write.take() else { continue };
        if changed == expected {
            let number = write.number();
            recorder.net_inserts += match operation {
                Operation::Insert | Operation::InsertBatch => 1,
                Operation::Delete => -1,
                _ => 0,
            };
            shared.acknowledge(write);
            if let Some(version) = replaced_version
                && shared.accept.is_lost_update(number, version)
            {
                recorder.lost_updates += 1;
            }
        } else if changed == 0 {
            // Changing nothing is right if the record may be absent.
            let absence = read.map(|read| shared.accept.accepts(&read, None));
            shared.accept.abort(write);
            if verify && !matches!(absence, Some(Ok(()))) {
                wrong_answer.get_or_insert_with(|| format!("{operation} {key}: changed nothing"));
            }
        } else {
            shared.accept.mark_unknown(write);
            wrong_answer.get_or_insert_with(|| {
                format!("{operation} {key}: changed {changed} documents instead of {expected}")
            });
        }
    }
    task.answer.documents = changed;
    Completion::Done(wrong_answer.map_or(OperationOutcome::Done, OperationOutcome::Wrong))
}

/// Completes a read-modify-write whose record was absent, so that no write is sent. That is right if the
/// record may be absent.
#[cold]
pub(crate) fn complete_absent(
    shared: &JobContext<'_>,
    plan: &OperationPlan,
    task: &mut Task,
) -> OperationOutcome {
    let mut wrong_answer = task.answer.error.take();
    if let Some(read) = task.read_token.filter(|_| shared.job.verify)
        && let Err(violation) = shared.accept.accepts(&read, None)
        && !(violation.is_stale() && plan.may_be_stale)
    {
        wrong_answer.get_or_insert_with(|| format!("{} {}: {violation}", plan.operation, task.first_key()));
    }
    abort_writes(shared, task);
    wrong_answer.map_or(OperationOutcome::Done, OperationOutcome::Wrong)
}

/// Marks the operation's writes as not done, because the system refused it.
pub(crate) fn abort_writes(shared: &JobContext<'_>, task: &mut Task) {
    for record in &mut task.records[..task.record_count] {
        if let Some(write) = record.write.take() {
            shared.accept.abort(write);
        }
    }
}

/// Marks the operation's writes as not done, because one of its keys already exists in the system.
pub(crate) fn mark_keys_taken(shared: &JobContext<'_>, task: &mut Task) {
    for record in &mut task.records[..task.record_count] {
        if let Some(write) = record.write.take() {
            shared.accept.mark_key_taken(write);
        }
    }
}

/// Marks the outcome of the operation's writes as unknown, or as not done if no write was sent.
pub(crate) fn mark_writes_unknown(shared: &JobContext<'_>, task: &mut Task) {
    if !task.has_written {
        return abort_writes(shared, task);
    }
    for record in &mut task.records[..task.record_count] {
        if let Some(write) = record.write.take() {
            shared.accept.mark_unknown(write);
        }
    }
}

/// Totals of an ended operation for the recorder.
#[inline]
pub(crate) fn totals(task: &Task) -> OperationTotals {
    OperationTotals {
        documents: task.answer.documents,
        retries: u64::from(task.retries),
        stale: task.answer.is_stale,
    }
}

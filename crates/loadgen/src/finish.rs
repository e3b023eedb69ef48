//! Completion of operations: verifies the answer and settles the versions of its writes.

use crate::operation::Operation;
use crate::recorder::{Came, Outcome, Recorder};
use crate::script::{Filler, Plan};
use crate::shared::Shared;
use crate::task::Task;

/// Outcome of an operation whose statements have all been answered.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The operation is complete with this outcome.
    As(Outcome),
    /// The value to be replaced had changed in between; the operation may be retried. Holds the message.
    Conflict(String),
}

/// Completes an operation after its last statement.
#[inline]
pub(crate) fn over(shared: &Shared<'_>, plan: &Plan, task: &mut Task, recorder: &mut Recorder) -> Ended {
    if plan.operation.writes() {
        return written(shared, plan, task, recorder);
    }
    if let Some(words) = task.answer.wrong.take() {
        return Ended::As(Outcome::Wrong(words));
    }
    if task.answer.rows == 0 && plan.operation == Operation::Count {
        return Ended::As(Outcome::Wrong(format!("{} was not answered", plan.operation)));
    }
    Ended::As(Outcome::Done)
}

fn written(shared: &Shared<'_>, plan: &Plan, task: &mut Task, recorder: &mut Recorder) -> Ended {
    let due = task.used as u64;
    let changed = task.changed.unwrap_or(due);
    let operation = plan.operation;
    if changed == 0 && plan.needs(Filler::Old) && task.replaces.is_some() {
        return Ended::Conflict("another write came between".to_owned());
    }
    let verify = shared.job.verify;
    let mut wrong = task.answer.wrong.take();
    let replaces = task.replaces;
    let read = task.read;
    let name = if changed == due { String::new() } else { task.name() };
    for item in &mut task.items[..task.used] {
        let Some(write) = item.write.take() else { continue };
        if changed == due {
            let number = write.number();
            recorder.added += match operation {
                Operation::Insert | Operation::InsertBatch => 1,
                Operation::Delete => -1,
                _ => 0,
            };
            shared.acknowledged(write);
            if let Some(version) = replaces
                && shared.accept.replaced(number, version)
            {
                recorder.lost_updates += 1;
            }
        } else if changed == 0 {
            // Changing nothing is right if the record may be absent.
            let absent = read.map(|read| shared.accept.accepts(&read, None));
            shared.accept.aborted(write);
            if verify && !matches!(absent, Some(Ok(()))) {
                wrong.get_or_insert_with(|| format!("{operation} {name}: changed nothing"));
            }
        } else {
            shared.accept.unknown(write);
            wrong.get_or_insert_with(|| {
                format!("{operation} {name}: changed {changed} documents instead of {due}")
            });
        }
    }
    task.answer.documents = changed;
    Ended::As(wrong.map_or(Outcome::Done, Outcome::Wrong))
}

/// Completes a read-modify-write whose record was absent, so that no write is sent. That is right if the
/// record may be absent.
#[cold]
pub(crate) fn absent(shared: &Shared<'_>, plan: &Plan, task: &mut Task) -> Outcome {
    let mut wrong = task.answer.wrong.take();
    if let Some(read) = task.read.filter(|_| shared.job.verify)
        && let Err(words) = shared.accept.accepts(&read, None)
        && !(words.is_stale() && plan.may_be_stale)
    {
        wrong.get_or_insert_with(|| format!("{} {}: {words}", plan.operation, task.name()));
    }
    refused(shared, task);
    wrong.map_or(Outcome::Done, Outcome::Wrong)
}

/// Marks the operation's writes as not done, because the system refused it.
pub(crate) fn refused(shared: &Shared<'_>, task: &mut Task) {
    for item in &mut task.items[..task.used] {
        if let Some(write) = item.write.take() {
            shared.accept.aborted(write);
        }
    }
}

/// Marks the operation's writes as not done, because one of its keys already exists in the system.
pub(crate) fn taken(shared: &Shared<'_>, task: &mut Task) {
    for item in &mut task.items[..task.used] {
        if let Some(write) = item.write.take() {
            shared.accept.taken(write);
        }
    }
}

/// Marks the outcome of the operation's writes as unknown, or as not done if no write was sent.
pub(crate) fn unknown(shared: &Shared<'_>, task: &mut Task) {
    if !task.wrote {
        return refused(shared, task);
    }
    for item in &mut task.items[..task.used] {
        if let Some(write) = item.write.take() {
            shared.accept.unknown(write);
        }
    }
}

/// Totals of an ended operation for the recorder.
#[inline]
pub(crate) fn came(task: &Task) -> Came {
    Came { documents: task.answer.documents, retries: u64::from(task.tries), stale: task.answer.stale }
}

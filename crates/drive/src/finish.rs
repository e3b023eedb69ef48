//! How an operation ended: whether its answer was right and its writes were done.

use crate::operation::Operation;
use crate::recorder::{Came, Outcome, Recorder};
use crate::script::{Filler, Plan};
use crate::shared::Shared;
use crate::task::Task;

/// How an operation whose statements have all been answered ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// So.
    As(Outcome),
    /// It found something else than what it was to replace, and may be tried again.
    Conflict(String),
}

/// All statements were answered.
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
            // Right if the record may be absent.
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

/// What was to be read and then changed was not there: nothing is sent any more. That is right if the record may be
/// absent.
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

/// The system has refused it: nothing of it was done.
pub(crate) fn refused(shared: &Shared<'_>, task: &mut Task) {
    for item in &mut task.items[..task.used] {
        if let Some(write) = item.write.take() {
            shared.accept.aborted(write);
        }
    }
}

/// The system has something under one of its keys already, and nothing of it was done.
pub(crate) fn taken(shared: &Shared<'_>, task: &mut Task) {
    for item in &mut task.items[..task.used] {
        if let Some(write) = item.write.take() {
            shared.accept.taken(write);
        }
    }
}

/// Nobody knows whether it was done, unless nothing of it was sent.
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

/// What an operation came to.
#[inline]
pub(crate) fn came(task: &Task) -> Came {
    Came { documents: task.answer.documents, retries: u64::from(task.tries), stale: task.answer.stale }
}

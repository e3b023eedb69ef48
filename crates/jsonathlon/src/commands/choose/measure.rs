//! Executes the parts of a choice, one after the other, each in its own folder.

use std::path::Path;
use std::time::Instant;

use jsonathlon_choose::facts::Part;
use jsonathlon_report::{format, page};
use jsonathlon_results::control::CONTROL;
use jsonathlon_results::folder::is_run_folder;
use jsonathlon_results::number_format::three_digits;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::id::Step;
use jsonathlon_schema::record::Trial;
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_workloads::RunError;
use jsonathlon_workloads::expected_time::rough_duration;
use jsonathlon_workloads::serving::settings::{ServedRecords, ServingSettings};

use super::documents::{copy_documents, source_state};
use super::participants::{Absence, Workload};
use super::plan::{SettledLoad, outline, step};
use super::rate::{DerivedRate, derive_rate};
use super::saved::{BegunPart, Choice, SavedChoice};
use crate::commands::load_catalogue;
use crate::commands::part_run::{PassedOnOptions, complete_run, is_complete};
use crate::commands::questions::shell_quoted;
use crate::exit::{Failure, INTERRUPTED};
use crate::interrupt::Interrupt;

/// Least and most that parts are taken to last, as a multiple of what was expected, whatever the parts before did: one
/// workload's pace says only so much about another's.
const PACES: (f64, f64) = (0.6, 4.0);

/// What the parts of a choice came to.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// Runs with trials, in the order of the parts.
    pub(super) runs: Vec<(Part, Run)>,
    /// Parts that failed, in the order in which they were begun.
    pub(super) failures: Vec<PartFailure>,
    /// Rate and paths that counted.
    pub(super) settled: SettledLoad,
}

/// Failure of a part, with the reason in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartFailure {
    pub(super) part: Part,
    pub(super) kind: PartFailureKind,
    pub(super) reason: String,
}

/// What is there of a part that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartFailureKind {
    /// There is no run, or nothing succeeded in it.
    NothingSucceeded,
    /// There is a run that ended before all of its trials were made. Those that were made count.
    EndedEarly,
}

/// Executes all parts that are not complete. A part that fails does not keep later ones from being executed, unless
/// it is the first one: then the reason is likely to be in all of them.
///
/// # Errors
/// If the user interrupts, or the first part fails.
pub(super) fn measure(
    choice: &mut Choice,
    is_resumed: bool,
    passed_on: &PassedOnOptions,
    interrupt: &Interrupt,
) -> Result<Measured, Failure> {
    let mut pace = Pace::default();
    let mut measured = Measured { settled: SettledLoad::stated(&choice.saved.load), ..Measured::default() };
    for part in Part::ALL {
        if !is_resumed {
            pace.refit(choice, part, passed_on)?;
        }
        let parts = choice.saved.parts(choice.saved.extent);
        let Some(index) = parts.iter().position(|planned| *planned == part) else { continue };
        if !is_complete(&choice.folder.join(part.folder()))? {
            check_source(&choice.saved)?;
            let (number, what) = (index + 1, choice.describe(part));
            crate::say!("part {number} of {}: {}: {what}", parts.len(), part.folder());
            begin(choice, part, &measured.settled, passed_on)?;
        }
        let begun = Instant::now();
        let result = measure_part(choice, part, &measured.settled, passed_on, interrupt);
        pace.actual_s += begun.elapsed().as_secs_f64();
        match result {
            Ok(Some(run)) => {
                learn(&mut measured.settled, part, &run);
                settle_rate(choice, measured.settled.rate)?;
                if failed_wholly(part, &run) {
                    let kind = PartFailureKind::NothingSucceeded;
                    measured.failures.push(PartFailure { part, kind, reason: first_failure(&run) });
                }
                measured.runs.push((part, run));
            }
            Ok(None) => {}
            Err(failure) if failure.code() == INTERRUPTED || measured.runs.is_empty() => return Err(failure),
            Err(failure) => {
                crate::say!("{}: {failure}", part.folder());
                let trials = trials_so_far(&choice.folder.join(part.folder()));
                let kind = match &trials {
                    Some(_) => PartFailureKind::EndedEarly,
                    None => PartFailureKind::NothingSucceeded,
                };
                measured.failures.push(PartFailure { part, kind, reason: failure.to_string() });
                measured.runs.extend(trials.map(|run| (part, run)));
            }
        }
    }
    if choice.saved.is_copy && measured.failures.is_empty() {
        // The runs are complete, and a decision is printed again without the documents.
        std::fs::remove_file(&choice.saved.data).ok();
    }
    Ok(measured)
}

/// Run of a part that ended early, with the trials that were made, and a page of it. `None` if there are none.
fn trials_so_far(folder: &Path) -> Option<Run> {
    // The failure of the part is told already.
    let run = is_run_folder(folder).then(|| Run::read(folder).ok()).flatten()?;
    run.trials().next()?;
    if let Err(error) = page::write_page(&run, page::PathDisplay::Hidden) {
        crate::say!("failed to write the page of {}: {error}", folder.display());
    }
    Some(run)
}

/// Refuses to go on over other documents than those that the parts before were measured with.
fn check_source(saved: &SavedChoice) -> Result<(), Failure> {
    let Some(expected) = &saved.source_state else { return Ok(()) };
    if source_state(&saved.data)? == *expected {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} has changed since this choice began, and its parts must have the same documents: start a new choice",
        saved.data.display()
    )))
}

/// Keeps the rate that was derived, and plans windows as long as it needs. Does nothing if the rate was known.
fn settle_rate(choice: &mut Choice, rate: Option<f64>) -> Result<(), Failure> {
    if choice.known_rate().is_some() || rate.is_none() {
        return Ok(());
    }
    choice.saved.derived_rate = rate;
    if let Some(remark) = choice.settle_windows() {
        crate::say!("note: {remark}");
        if !choice.saved.whole.long_windows {
            choice.saved.notes.push(remark);
        }
    }
    choice.save()
}

/// Keeps what a part is begun with, unless it has begun before.
fn begin(
    choice: &mut Choice,
    part: Part,
    settled: &SettledLoad,
    passed_on: &PassedOnOptions,
) -> Result<(), Failure> {
    let extent = choice.saved.extent;
    let words = choice.arguments(part, extent, settled, passed_on);
    let command = words.iter().map(|word| shell_quoted(word)).collect::<Vec<_>>().join(" ");
    choice.saved.begun.entry(part.folder().to_owned()).or_insert(BegunPart { extent, command });
    choice.save()
}

/// Executes one part. `None` if none of its systems can take part after all.
fn measure_part(
    choice: &mut Choice,
    part: Part,
    settled: &SettledLoad,
    passed_on: &PassedOnOptions,
    interrupt: &Interrupt,
) -> Result<Option<Run>, Failure> {
    let folder = choice.folder.join(part.folder());
    let is_subset = step(part) > 1 && !is_complete(&folder)?;
    let file = choice.subset_file(part);
    if is_subset {
        let cancelled = || interrupt.is_requested();
        copy_documents(&choice.saved.source(), step(part), &file, &cancelled)?;
    }
    let result = loop {
        if choice.saved.systems(part).is_empty() {
            break Ok(None);
        }
        let command = || choice.command(part, choice.saved.extent, settled, passed_on);
        match complete_run(&folder, command, passed_on, interrupt) {
            Err(Failure::Run(RunError::Unsupported { system, reason, .. })) => {
                leave_out(choice, part, &system, reason)?;
            }
            Err(failure) => break Err(failure),
            Ok(()) => break Run::read(&folder).map(Some).map_err(Failure::from),
        }
    };
    if is_subset {
        std::fs::remove_file(&file).ok();
    }
    result
}

/// Leaves a system out of a part and of all later ones of its workload, because it cannot hold the documents.
fn leave_out(choice: &mut Choice, part: Part, system: &str, reason: String) -> Result<(), Failure> {
    let from = if part == Part::Questions { Workload::Questions } else { Workload::Serving };
    let participants = &mut choice.saved.participants;
    let systems = match from {
        Workload::Questions => &mut participants.questions,
        Workload::Serving => &mut participants.serving,
    };
    let is_it = |qualified: &String| qualified.split('@').next() == Some(system);
    let left_out: Vec<String> = systems.iter().filter(|qualified| is_it(qualified)).cloned().collect();
    if left_out.is_empty() {
        return Err(Failure::environment(reason));
    }
    systems.retain(|qualified| !is_it(qualified));
    let note = format!("{system} takes no part in {}: {reason}", from.words());
    crate::say!("note: {note}");
    for qualified in left_out {
        let version = qualified.split_once('@').map_or("", |(_, version)| version).to_owned();
        participants.absences.push(Absence {
            system: system.to_owned(),
            version,
            from,
            reason: reason.clone(),
        });
    }
    choice.saved.notes.push(note);
    choice.save()
}

/// How long the parts so far have taken, and were expected to take.
#[derive(Debug, Default)]
struct Pace {
    actual_s: f64,
    expected_s: f64,
}

impl Pace {
    /// How many times as long as expected the parts take.
    fn factor(&self) -> f64 {
        let (least, most) = PACES;
        if self.expected_s > 0.0 { (self.actual_s / self.expected_s).clamp(least, most) } else { 1.0 }
    }

    /// Fits what comes from a part on into what is left of the budget, and says what changes. Expects the part to
    /// be executed next.
    fn refit(&mut self, choice: &mut Choice, next: Part, passed_on: &PassedOnOptions) -> Result<(), Failure> {
        let catalogue = load_catalogue(&passed_on.systems_dir)?;
        // Of the two loads of fewer documents there are both or none.
        if self.expected_s > 0.0 && next != Part::Half {
            let (factor, left_s) = (self.factor(), choice.saved.budget_s - self.actual_s);
            let fitted = choice.fitted(next, left_s, factor, &catalogue, passed_on)?;
            let mut changed = choice.clone();
            changed.saved.extent = fitted.extent;
            let (_, before) = outline(choice, next, factor, &catalogue, passed_on)?;
            let (seconds, after) = outline(&changed, next, factor, &catalogue, passed_on)?;
            *choice = changed;
            if before != after {
                let spent = rough_duration(self.actual_s);
                crate::say!("{spent} are spent; from here on it takes about {}:", rough_duration(seconds));
                for line in after {
                    crate::say!("{line}");
                }
            }
        }
        if choice.saved.parts(choice.saved.extent).contains(&next) {
            self.expected_s += choice.part_seconds(next, choice.saved.extent, &catalogue, passed_on)?;
        }
        Ok(())
    }
}

/// Keeps what later parts need: the rate, and the key and the updated path of the documents, so that all parts have
/// the same ones.
fn learn(settled: &mut SettledLoad, part: Part, run: &Run) {
    let settings = run.manifest.settings.workload.read::<ServingSettings>(WorkloadKind::Serving);
    if let Ok(ServingSettings { records: ServedRecords::Own { own }, .. }) = settings {
        settled.key = own.key.or_else(|| settled.key.take());
        settled.update = own.update.or_else(|| settled.update.take());
    }
    if part == Part::Capacity && settled.rate.is_none() {
        match derive_rate(run) {
            Some(DerivedRate { per_s, slowest, capacity, leaves_out }) => {
                let (rate, capacity) = (per_second(per_s), per_second(capacity));
                let of = if leaves_out { " of those made for such a load" } else { "" };
                crate::say!(
                    "rate: {rate} operations/s for all systems, half of the {capacity} that {slowest} reached, the \
                     slowest{of}"
                );
                settled.rate = Some(per_s);
            }
            None => crate::say!("note: no rate is offered, because no system reached one that was verified"),
        }
    }
}

/// Operations per second for readers.
fn per_second(number: f64) -> String {
    if number < 100.0 { three_digits(number) } else { format::integer(number) }
}

/// Whether nothing that a part is for succeeded on any system.
fn failed_wholly(part: Part, run: &Run) -> bool {
    let trials: Vec<&Trial> = trials_for(part, run).collect();
    trials.iter().all(|trial| trial.failure.is_some())
}

/// Trials that a part is for: loads, if it has fewer documents than the others, or else what comes after them.
fn trials_for(part: Part, run: &Run) -> impl Iterator<Item = &Trial> {
    run.trials().filter(move |trial| {
        let is_wanted = match step(part) {
            1 => trial.cell.step.is_workload_step(),
            _ => trial.cell.step == Step::Load,
        };
        is_wanted && trial.cell.id.system != CONTROL
    })
}

fn first_failure(run: &Run) -> String {
    let failures = run.trials().filter_map(|trial| Some((&trial.cell.id.system, trial.failure.as_ref()?)));
    let mut texts = failures.map(|(system, failure)| format!("{system}: {}", failure.error));
    texts.next().unwrap_or_else(|| "it has no trials".to_owned())
}

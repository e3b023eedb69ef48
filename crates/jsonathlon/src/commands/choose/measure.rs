//! Executes the parts of a choice, one after the other, each in its own folder.

use std::time::Instant;

use jsonathlon_choose::facts::Part;
use jsonathlon_report::format;
use jsonathlon_results::control::CONTROL;
use jsonathlon_results::number_format::three_digits;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::id::Step;
use jsonathlon_schema::record::Trial;
use jsonathlon_schema::workload::WorkloadKind;
use jsonathlon_workloads::RunError;
use jsonathlon_workloads::expected_time::rough_duration;
use jsonathlon_workloads::serving::settings::{ServedRecords, ServingSettings};

use super::documents::copy_documents;
use super::participants::{Absence, Workload};
use super::plan::{Found, step};
use super::rate::{DerivedRate, derive_rate};
use super::saved::Choice;
use crate::commands::load_catalogue;
use crate::commands::part_run::{PassedOnOptions, complete_run, is_complete};
use crate::exit::{Failure, INTERRUPTED};
use crate::interrupt::Interrupt;

/// Share of the budget by which loads for the growth of sizes may exceed it before they are left out.
const TOLERANCE: f64 = 1.1;

/// What the parts of a choice came to.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// Runs that ended, in the order of the parts.
    pub(super) runs: Vec<(Part, Run)>,
    /// Parts without a run, and parts in whose run nothing succeeded, each with the reason.
    pub(super) failures: Vec<(Part, String)>,
    /// Rate and paths that counted.
    pub(super) found: Found,
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
    let begun = Instant::now();
    let parts = choice.saved.parts(choice.saved.extent);
    let mut measured = Measured { found: Found::stated(&choice.saved.load), ..Measured::default() };
    for (index, part) in parts.iter().copied().enumerate() {
        if !is_resumed && is_too_late(choice, part, begun.elapsed().as_secs_f64(), passed_on)? {
            continue;
        }
        if !is_complete(&choice.folder.join(part.folder()))? {
            crate::say!(
                "part {} of {}: {}: {}",
                index + 1,
                parts.len(),
                part.folder(),
                choice.describe(part)
            );
        }
        match measure_part(choice, part, &measured.found, passed_on, interrupt) {
            Ok(Some(run)) => {
                learn(&mut measured.found, part, &run);
                if failed_wholly(part, &run) {
                    measured.failures.push((part, first_failure(&run)));
                }
                measured.runs.push((part, run));
            }
            Ok(None) => {}
            Err(failure) if failure.code() == INTERRUPTED || measured.runs.is_empty() => return Err(failure),
            Err(failure) => {
                crate::say!("{}: {failure}", part.folder());
                measured.failures.push((part, failure.to_string()));
            }
        }
    }
    if choice.saved.is_copy && measured.failures.is_empty() {
        // The runs are complete, and a decision is printed again without the documents.
        std::fs::remove_file(&choice.saved.data).ok();
    }
    Ok(measured)
}

/// Executes one part. `None` if none of its systems can take part after all.
fn measure_part(
    choice: &mut Choice,
    part: Part,
    found: &Found,
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
        let command = || choice.command(part, choice.saved.extent, found, passed_on);
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

/// Leaves the loads of fewer documents out, with a word, if the parts before have taken longer than was expected.
fn is_too_late(
    choice: &mut Choice,
    part: Part,
    elapsed_s: f64,
    passed_on: &PassedOnOptions,
) -> Result<bool, Failure> {
    if step(part) == 1 {
        return Ok(false);
    }
    let extent = choice.saved.extent;
    if part == Part::Quarter && extent.smaller_loads {
        let catalogue = load_catalogue(&passed_on.systems_dir)?;
        let quarter_s = choice.part_seconds(Part::Quarter, extent, &catalogue, passed_on)?;
        let half_s = choice.part_seconds(Part::Half, extent, &catalogue, passed_on)?;
        if elapsed_s + quarter_s + half_s > TOLERANCE * choice.saved.budget_s {
            choice.saved.extent.smaller_loads = false;
            let elapsed = rough_duration(elapsed_s);
            let note = format!(
                "left out, because {elapsed} of the budget are spent: loads of a quarter and half of the documents, \
                 so that no size is estimated"
            );
            crate::say!("note: {note}");
            choice.saved.notes.push(note);
            choice.save()?;
        }
    }
    Ok(!choice.saved.extent.smaller_loads)
}

/// Keeps what later parts need: the rate, and the key and the updated path of the documents, so that all parts have
/// the same ones.
fn learn(found: &mut Found, part: Part, run: &Run) {
    let settings = run.manifest.settings.workload.read::<ServingSettings>(WorkloadKind::Serving);
    if let Ok(ServingSettings { records: ServedRecords::Own { own }, .. }) = settings {
        found.key = own.key.or_else(|| found.key.take());
        found.update = own.update.or_else(|| found.update.take());
    }
    if part == Part::Capacity && found.rate.is_none() {
        match derive_rate(run) {
            Some(DerivedRate { per_s, slowest, capacity }) => {
                let (rate, capacity) = (per_second(per_s), per_second(capacity));
                crate::say!(
                    "rate: {rate} operations/s for all systems, half of what {slowest} reached as the slowest \
                     ({capacity})"
                );
                found.rate = Some(per_s);
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

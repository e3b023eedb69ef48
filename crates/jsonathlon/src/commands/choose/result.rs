//! The decision: what the runs found out, compared with the needs, printed and written.

use std::collections::BTreeMap;
use std::process::ExitCode;

use jsonathlon_choose::Dimension;
use jsonathlon_choose::decision::Decision;
use jsonathlon_choose::facts::{GatherContext, LeftOut, Part, gather};
use jsonathlon_choose::needs::Need;
use jsonathlon_report::choose::{ChooseResult, FILE};
use jsonathlon_results::folder::write_atomic;
use jsonathlon_workloads::expected_time::rough_duration;

use super::measure::{Measured, PartFailure, PartFailureKind};
use super::participants::Workload;
use super::saved::Choice;
use crate::cli::choose::ChooseArguments;
use crate::commands::table_style::table_style;
use crate::commands::{print, short_path};
use crate::exit::{FAILED_CELL, Failure};

/// File with the decision for other programs, in the folder of a choice.
const DECISION: &str = "decision.json";

/// Decides, writes the decision and the page, and prints them. The exit code is success even if no system meets all
/// needs, but not if a part failed wholly.
pub(super) fn show(
    choice: &Choice,
    measured: &Measured,
    arguments: &ChooseArguments,
) -> Result<ExitCode, Failure> {
    let rejectable = match choice.needs.need(Dimension::Rejected) {
        Some(Need::Rejected(share)) => *share,
        _ => 0.0,
    };
    let context =
        GatherContext { rate: measured.settled.rate, rejectable, left_out: left_out(choice, measured) };
    let mut decision = Decision::new(&choice.needs, gather(&measured.runs, &context));
    decision.notes.extend(notes(choice, measured));
    let json = serde_json::to_string_pretty(&decision.json())
        .map_err(|error| Failure::environment(format!("failed to write the decision as JSON: {error}")))?
        + "\n";
    write_atomic(&choice.folder.join(DECISION), json.as_bytes())?;
    let result = ChooseResult::new(&decision, &measured.runs, &choice.folder).with_commands(commands(choice));
    let file = choice.folder.join(FILE);
    write_atomic(&file, result.page().as_bytes())?;
    if arguments.json {
        print(&json)?;
        crate::say!("the page of this choice: {}", file.display());
    } else {
        let style = table_style(arguments.tables);
        print(&result.tables(style))?;
        print(&result.closing_answer(short_path(&file), style))?;
    }
    Ok(if measured.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}

/// What the plan and its execution say besides the runs: why something is not measured.
fn notes(choice: &Choice, measured: &Measured) -> Vec<String> {
    let mut notes = Vec::new();
    for PartFailure { part, kind, reason } in &measured.failures {
        let part = part.folder();
        notes.push(match kind {
            PartFailureKind::NothingSucceeded => format!("nothing succeeded in {part}: {reason}"),
            PartFailureKind::EndedEarly => format!(
                "{part} ended early: {reason}; its trials so far count, and jsonathlon choose --resume {} goes on with it",
                choice.folder.display()
            ),
        });
    }
    let left_out = choice.left_out();
    if !left_out.is_empty() {
        let budget = rough_duration(choice.saved.budget_s);
        notes.push(format!("left out for a budget of {budget}: {}", left_out.join("; ")));
    }
    notes.extend(choice.saved.notes.iter().cloned());
    notes
}

/// Command of each part that has begun.
fn commands(choice: &Choice) -> BTreeMap<Part, String> {
    let begun = |part: Part| Some((part, choice.saved.begun.get(part.folder())?.command.clone()));
    Part::ALL.into_iter().filter_map(begun).collect()
}

/// Parts without a run, and systems that take no part in one, each with the reason.
fn left_out(choice: &Choice, measured: &Measured) -> Vec<LeftOut> {
    let mut left_out = Vec::new();
    for absence in &choice.saved.participants.absences {
        for part in parts_of(absence.from) {
            let (system, reason) = (Some(absence.system.clone()), absence.reason.clone());
            left_out.push(LeftOut { part: *part, system, reason });
        }
    }
    let mut of_all = |part: Part, reason: String| left_out.push(LeftOut { part, system: None, reason });
    for PartFailure { part, kind, reason } in &measured.failures {
        let verb = match kind {
            PartFailureKind::NothingSucceeded => "failed",
            PartFailureKind::EndedEarly => "ended early",
        };
        of_all(*part, format!("{} {verb}: {reason}", part.folder()));
    }
    if choice.saved.questions.is_none() {
        of_all(Part::Questions, "the documents have nothing that could be asked about".to_owned());
    }
    if !choice.saved.prove {
        of_all(Part::Durability, "no crashes were made (--prove)".to_owned());
    }
    if !choice.saved.extent.smaller_loads {
        for part in [Part::Quarter, Part::Half] {
            of_all(part, "fewer documents were not loaded".to_owned());
        }
    }
    left_out
}

fn parts_of(workload: Workload) -> &'static [Part] {
    match workload {
        Workload::Serving => &[Part::Capacity, Part::Serving, Part::Quarter, Part::Half, Part::Durability],
        Workload::Questions => &[Part::Questions],
    }
}

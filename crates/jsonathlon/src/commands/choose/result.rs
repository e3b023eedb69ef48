//! The decision: what the runs found out, compared with the needs, printed and written.

use std::process::ExitCode;

use jsonathlon_choose::Dimension;
use jsonathlon_choose::decision::Decision;
use jsonathlon_choose::facts::{Part, SystemFacts, gather};
use jsonathlon_choose::needs::{Need, NeedsFile, SizeAt};
use jsonathlon_results::folder::write_atomic;

use super::measure::Measured;
use super::participants::Workload;
use super::saved::Choice;
use crate::cli::choose::ChooseArguments;
use crate::commands::print;
use crate::exit::{FAILED_CELL, Failure};

/// File with the decision for other programs, in the folder of a choice.
const DECISION: &str = "decision.json";

/// Dimensions that nothing but serving documents can tell.
const SERVING_DIMENSIONS: [Dimension; 3] = [Dimension::Durability, Dimension::Rate, Dimension::Response];

/// Decides, writes the decision and the page, and prints them. The exit code is success even if no system meets all
/// needs, but not if a part failed wholly.
pub(super) fn show(
    choice: &Choice,
    measured: &Measured,
    arguments: &ChooseArguments,
) -> Result<ExitCode, Failure> {
    let mut facts = gather(&measured.runs, measured.found.rate);
    for system in &mut facts {
        explain_absence(system, choice, measured);
    }
    let mut decision = Decision::new(&choice.needs, facts);
    decision.notes.extend(choice.saved.notes.iter().cloned());
    for (part, reason) in &measured.failures {
        decision.notes.push(format!("the part {} failed: {reason}", part.folder()));
    }
    let json = serde_json::to_string_pretty(&decision.json())
        .map_err(|error| Failure::environment(format!("failed to write the decision as JSON: {error}")))?
        + "\n";
    write_atomic(&choice.folder.join(DECISION), json.as_bytes())?;
    if arguments.json {
        print(&json)?;
    } else {
        print(&format!("{}\n", decision.headline))?;
    }
    Ok(if measured.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED_CELL) })
}

/// Says of each dimension that was not measured for a reason that only the plan knows, what this reason is.
fn explain_absence(system: &mut SystemFacts, choice: &Choice, measured: &Measured) {
    let participants = &choice.saved.participants;
    let is_it = |name: &str| system.id.system == name;
    let absences: Vec<_> = participants.absences.iter().filter(|absence| is_it(&absence.system)).collect();
    for absence in absences {
        let dimensions: &[Dimension] = match absence.from {
            Workload::Serving => &SERVING_DIMENSIONS,
            Workload::Questions => &[Dimension::Report],
        };
        for dimension in dimensions {
            system.untested.insert(*dimension, absence.reason.clone());
        }
    }
    if choice.saved.questions.is_none() {
        system
            .untested
            .insert(Dimension::Report, "the documents have nothing that could be asked about".to_owned());
    }
    for (part, reason) in &measured.failures {
        let dimensions: &[Dimension] = match part {
            Part::Capacity | Part::Serving => &SERVING_DIMENSIONS,
            Part::Questions => &[Dimension::Report],
            Part::Quarter | Part::Half => &[Dimension::Size],
            Part::Durability => &[Dimension::Durability],
        };
        for dimension in dimensions {
            let failed = || format!("the part {} failed: {reason}", part.folder());
            system.untested.entry(*dimension).or_insert_with(failed);
        }
    }
    if needs_estimate(&choice.needs) && !choice.saved.extent.smaller_loads {
        let left_out = || "the loads that sizes are estimated from are left out for the budget".to_owned();
        system.untested.entry(Dimension::Size).or_insert_with(left_out);
    }
}

/// Whether the user needs a size at a number of documents that may be none of those that were loaded.
fn needs_estimate(needs: &NeedsFile) -> bool {
    let is_estimated =
        |need: &Need| matches!(need, Need::Size { at: SizeAt::Later(_) | SizeAt::Now(Some(_)), .. });
    needs.needs.iter().any(is_estimated)
}

//! Under which conditions a choice was measured.

use std::collections::BTreeSet;

use jsonathlon_choose::facts::Part;
use jsonathlon_results::summary::Run;

use super::ChooseResult;
use crate::format;
use crate::section::printable;

/// Day, machine and documents in one line. `None` without a run.
pub(super) fn measured_on(result: &ChooseResult<'_>) -> Option<String> {
    let run = main_run(result)?;
    let (machine, data) = (&run.manifest.machine, &run.manifest.data);
    let day = run.manifest.day();
    Some(format!(
        "Measured {day} on {} cores, {}, {} memory: {} documents, {}.",
        machine.cores,
        printable(&machine.processor),
        format::bytes(machine.memory_bytes as f64),
        format::integer(data.documents as f64),
        printable(&data.source),
    ))
}

/// Run of all documents: that of serving, else of questions, else the first one. `None` without a run.
pub(super) fn main_run<'a>(result: &ChooseResult<'a>) -> Option<&'a Run> {
    let of = |part: Part| result.runs.iter().find(|(known, _)| *known == part);
    of(Part::Serving).or_else(|| of(Part::Questions)).or(result.runs.first()).map(|(_, run)| run)
}

/// Names and texts of the conditions.
pub(super) fn conditions(result: &ChooseResult<'_>) -> Vec<(String, String)> {
    let mut conditions = Vec::new();
    let mut add = |name: &str, text: String| conditions.push((name.to_owned(), text));
    if let Some(run) = main_run(result) {
        let (machine, data) = (&run.manifest.machine, &run.manifest.data);
        add(
            "machine",
            format!(
                "{} cores, {}, {} memory, {}, kernel {}",
                machine.cores,
                printable(&machine.processor),
                format::bytes(machine.memory_bytes as f64),
                printable(&machine.os),
                printable(&machine.kernel_release)
            ),
        );
        add("begun", format!("{} with jsonathlon {}", run.manifest.started, run.manifest.program));
        let bytes = format::bytes(data.bytes as f64);
        let documents = format::integer(data.documents as f64);
        add("documents", format!("{documents} of {bytes}: {}", printable(&data.source)));
    }
    for candidate in &result.decision.candidates {
        let facts = &candidate.facts;
        let mut words = vec![format!("variant {}", facts.id.variant)];
        if !facts.id.storage.is_empty() {
            words.push(format!("storage {}", facts.id.storage));
        }
        words.extend(facts.profile.map(|profile| format!("memory profile {}", profile.word())));
        words.extend(facts.durability.tier.map(|tier| format!("durability tier {}", tier.word())));
        words.push(super::table::kind(candidate));
        add(&printable(&facts.name), printable(&words.join(", ")));
    }
    let tiers: BTreeSet<&str> = result
        .decision
        .candidates
        .iter()
        .filter_map(|candidate| candidate.facts.durability.tier)
        .map(jsonathlon_schema::durability::DurabilityTier::word)
        .collect();
    if tiers.len() > 1 {
        let tiers = tiers.into_iter().collect::<Vec<_>>().join(", ");
        add("durability", format!("tiers differ: {tiers}. Weaker tiers are faster."));
    }
    conditions
}

/// A part with its run, for the list of parts.
pub(super) struct PartRow {
    pub(super) part: Part,
    /// What the part is for.
    pub(super) purpose: &'static str,
    /// Number of rounds and of measured trials, in words.
    pub(super) extent: String,
    /// Command as a user would type it; empty if it is not known.
    pub(super) command: String,
}

/// All parts that were run, in the order in which they are listed.
pub(super) fn parts(result: &ChooseResult<'_>) -> Vec<PartRow> {
    let row = |(part, run): &(Part, Run)| {
        let rounds = run.manifest.settings.run.rounds;
        let rounds = if rounds == 1 { "1 round".to_owned() } else { format!("{rounds} rounds") };
        let planned = run.manifest.plan.trials.len();
        let open = run.open_trials().len();
        let extent = match open {
            0 => format!("{rounds}, {} trials", format::integer(planned as f64)),
            open => format!("{rounds}, {open} of {} trials have not run", format::integer(planned as f64)),
        };
        let command = result.commands.get(part).cloned().unwrap_or_default();
        PartRow { part: *part, purpose: purpose(*part), extent, command: printable(&command) }
    };
    result.runs.iter().map(row).collect()
}

fn purpose(part: Part) -> &'static str {
    match part {
        Part::Capacity => "operations without a rate, to find one that all systems can be offered",
        Part::Serving => "load, size, round trip, and operations at the rate, with reports beside them",
        Part::Questions => "questions at rest, hot and cold",
        Part::Quarter => "load of every fourth document, for the growth of sizes",
        Part::Half => "load of every second document, for the growth of sizes",
        Part::Durability => "crashes under load",
    }
}

/// Command that began the choice; empty if the runs do not say it.
pub(super) fn command(result: &ChooseResult<'_>) -> String {
    let Some((_, arguments)) = main_run(result).and_then(|run| run.manifest.command.split_first()) else {
        return String::new();
    };
    let quoted = arguments.iter().map(|argument| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
        if !argument.is_empty() && argument.chars().all(is_plain) {
            argument.clone()
        } else {
            format!("'{}'", argument.replace('\'', "'\\''"))
        }
    });
    printable(&std::iter::once("jsonathlon".to_owned()).chain(quoted).collect::<Vec<_>>().join(" "))
}

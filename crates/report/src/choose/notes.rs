//! What a reader of a decision should know: reasons for caution, and what was not tested.

use std::collections::BTreeMap;

use jsonathlon_choose::facts::Part;
use jsonathlon_results::busy_machine::machine_was_busy;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::and_list::and_list;
use jsonathlon_schema::severity::Severity;

use super::table::{Aspect, Mark, Table};
use super::{ChooseResult, printable_long};

/// Number of rounds below which differences are hard to show.
const ENOUGH_ROUNDS: u32 = 3;

/// Parts whose figures are repeated in rounds. The others count or load.
const REPEATED: [Part; 2] = [Part::Serving, Part::Questions];

/// Reasons to be careful with the whole decision.
pub(super) fn warnings(result: &ChooseResult<'_>) -> Vec<(Severity, String)> {
    let mut warnings = Vec::new();
    let open = parts_with(result, |run| match run.open_trials().len() {
        0 => None,
        count => Some(format!("{count} of")),
    });
    if !open.is_empty() {
        let text = format!("INCOMPLETE: some planned trials have not run: {}", open.join(", "));
        warnings.push((Severity::Failed, text));
    }
    let busy = parts_with(result, |run| machine_was_busy(run).then(String::new));
    if !busy.is_empty() {
        let text = format!("other processes were running ({}): repeat on a quiet machine", busy.join(", "));
        warnings.push((Severity::Warning, text));
    }
    let repeated = result.runs.iter().filter(|(part, _)| REPEATED.contains(part));
    let few: Vec<String> = repeated
        .filter(|(_, run)| run.manifest.settings.run.rounds < ENOUGH_ROUNDS)
        .map(|(part, run)| format!("{} {}", rounds(run.manifest.settings.run.rounds), part.folder()))
        .collect();
    if !few.is_empty() {
        let text = format!("few rounds show few differences: {}", few.join(", "));
        warnings.push((Severity::Warning, text));
    }
    warnings
}

fn rounds(rounds: u32) -> String {
    if rounds == 1 { "1 round of".to_owned() } else { format!("{rounds} rounds of") }
}

/// Folders of the parts of which `describe` says something, each behind what it says.
fn parts_with(result: &ChooseResult<'_>, describe: impl Fn(&Run) -> Option<String>) -> Vec<String> {
    let described = result.runs.iter().filter_map(|(part, run)| Some((part, describe(run)?)));
    described.map(|(part, words)| format!("{words} {}", part.folder()).trim_start().to_owned()).collect()
}

/// What a reader should know besides the table, the most important first.
pub(super) fn notes(result: &ChooseResult<'_>) -> Vec<String> {
    let decision = result.decision;
    let mut notes: Vec<String> = decision.faults.iter().map(|fault| printable_long(fault)).collect();
    notes.extend(untested(&Table::new(decision), !decision.needs.is_empty()));
    notes.extend(decision.notes.iter().map(|note| printable_long(note)));
    notes.extend(decision.best.iter().map(|best| printable_long(&best.sentence)));
    notes.retain(|note| !note.is_empty());
    notes
}

/// One note for each reason why something was not tested, with what it was. Decisions say themselves for which
/// needs nobody was tested.
fn untested(table: &Table<'_>, has_needs: bool) -> Vec<String> {
    let is_tested = |index: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.cells.get(index));
        !has_needs || cells.any(|cell| cell.mark != Mark::NotTested)
    };
    let mut reasons: Vec<(&str, BTreeMap<String, Vec<String>>)> = Vec::new();
    for row in &table.rows {
        let mut aspects: BTreeMap<&str, Vec<Aspect>> = BTreeMap::new();
        for (index, (heading, cell)) in table.headings.iter().zip(&row.cells).enumerate() {
            if cell.mark == Mark::NotTested && is_tested(index) {
                aspects.entry(&cell.words).or_default().push(heading.aspect);
            }
        }
        for (reason, aspects) in aspects {
            let titles: Vec<&str> = aspects.iter().map(|aspect| aspect.title()).collect();
            let index = reasons.iter().position(|(known, _)| *known == reason).unwrap_or_else(|| {
                reasons.push((reason, BTreeMap::new()));
                reasons.len() - 1
            });
            let Some((_, systems)) = reasons.get_mut(index) else { continue };
            let name = printable_long(&row.candidate.facts.short_name);
            systems.entry(and_list(&titles)).or_default().push(name);
        }
    }
    let note = |(reason, systems): (&str, BTreeMap<String, Vec<String>>)| {
        let what = systems.iter().map(|(aspects, names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{aspects} of {}", and_list(&names))
        });
        let what: Vec<String> = what.collect();
        format!("not tested: {}: {reason}", what.join("; "))
    };
    reasons.into_iter().map(note).collect()
}

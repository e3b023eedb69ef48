//! The tables of users' own questions: those of any questions, and what came of holding the answers against each other.

use jsonathlon_results::manifest::Manifest;
use jsonathlon_results::record::{Agreement, Basis, DifferentRows, Given, Standing};
use jsonathlon_results::severity::Severity;
use jsonathlon_results::summary::{Run, Summary};
use serde::Deserialize;

use crate::analytics::{loading, questions as asked, sizes};
use crate::marked::Marked;
use crate::section::{Section, printable};

/// As it is called in journals.
pub(crate) const NAME: &str = "questions";

/// Characters of a row that are shown.
const ROW: usize = 120;

/// As much of a run's settings as reports need.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Own {
    pub(crate) title: String,
    pub(crate) questions: Vec<OwnQuestion>,
}

/// A question of the user's.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
pub(crate) struct OwnQuestion {
    pub(crate) name: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) asks: String,
}

/// The user's questions of a run; none of one of another workload.
pub(crate) fn own(manifest: &Manifest) -> Option<Own> {
    Own::deserialize(manifest.settings.get(NAME)?).ok()
}

/// All tables.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = vec![loading::loading(run, summary), sizes::sizes(run, summary)];
    let questions = own(&run.manifest).map(|own| own.questions).unwrap_or_default();
    for state in asked::states(summary) {
        for OwnQuestion { name, title, asks } in &questions {
            let heading = format!("{}: {}", printable(name), printable(title));
            let Some(mut section) = asked::table(run, summary, name, &heading, state) else { continue };
            if !asks.is_empty() {
                section.notes.push(printable(asks));
            }
            let found = summary.agreements.iter().find(|one| one.question == *name);
            if let Some(found) = found {
                section.notes.append(agreement(found));
            }
            sections.push(section);
        }
    }
    sections
}

/// The first line of a run's tables: the questions by their titles.
pub(crate) fn titles(run: &Run) -> Option<String> {
    let Own { title, questions } = own(&run.manifest)?;
    let titles: Vec<String> = questions.iter().map(|one| printable(&one.title)).collect();
    Some(format!("asked    {}: {}", printable(&title), titles.join("; ")))
}

/// How to read the tables.
pub(crate) fn reading() -> Vec<String> {
    [
        "agreed: a strict majority of the systems that answered, two at least, gave the same answer, against which every \
         trial was compared; disputed: no such majority, so nobody is right and nobody ranked; unverified: one system alone",
        "answers are compared by value: numbers with a fraction or beyond 2^53 within 1e-9, strings by their bytes, rows that \
         tie in the stated order as a set; all rules are in docs/own-questions.md",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// What came of the answers to a question, and who differs.
fn agreement(one: &Agreement) -> Marked<String> {
    let with = |given: Given| one.standings.iter().filter(move |standing| standing.answer == given);
    let names = |given: Given| with(given).map(called).collect::<Vec<_>>().join(", ");
    let same = with(Given::Same).count();
    let answered = same + with(Given::Different).count();
    let severity = if one.basis == Basis::Disputed { Severity::Warning } else { Severity::Good };
    let mut notes = Marked::default();
    let told = match one.basis {
        Basis::Agreed => format!(
            "agreed: {same} of {answered} configurations gave the same answer: {}",
            names(Given::Same)
        ),
        Basis::Disputed => format!(
            "DISPUTED: {answered} configurations answered and no majority of their systems agrees; nobody is right. The most \
             frequent answer is that of {}",
            names(Given::Same)
        ),
        Basis::Unverified => "UNVERIFIED: one system alone answered, or the reference did not".to_owned(),
        Basis::Expected => {
            format!("compared with expected.json: {same} of {answered} configurations answer the same")
        }
        Basis::Reference => {
            format!("compared with the reference: {same} of {answered} configurations answer the same")
        }
        Basis::Unanswered => "UNVERIFIED: nobody answered".to_owned(),
    };
    notes.mark(severity, told);
    for standing in with(Given::Different) {
        notes.extend(different(standing));
    }
    for standing in with(Given::Failed) {
        let why = standing.why.as_deref().unwrap_or_default();
        notes.mark(Severity::Failed, format!("failed: {}: {}", called(standing), printable(why)));
    }
    let not = names(Given::NotAsked);
    if !not.is_empty() {
        notes.push(format!("not asked, for want of a statement: {not}"));
    }
    notes
}

fn called(standing: &Standing) -> String {
    format!("{} {} {}", standing.id.system, standing.id.version, standing.id.variant)
}

/// A difference, both ways, with the rule that explains it.
fn different(standing: &Standing) -> Vec<String> {
    let mut notes = vec![format!(
        "differs: {}: {}",
        called(standing),
        printable(standing.why.as_deref().unwrap_or_default())
    )];
    if let Some(DifferentRows { lacks, lacking, has, having }) = &standing.rows {
        for (rows, count, word) in [(lacks, lacking, "lacks"), (has, having, "has instead")] {
            for row in rows.iter().take(3) {
                notes.push(format!("  {word} {}", shown(row)));
            }
            let more = count.saturating_sub(rows.len().min(3) as u64);
            if more > 0 {
                notes.push(format!("  {word} {more} more rows"));
            }
        }
    }
    notes.extend(standing.rule.as_ref().map(|rule| format!("  which explains it: {}", printable(rule))));
    notes
}

fn shown(row: &[serde_json::Value]) -> String {
    let cells: Vec<String> = row.iter().map(cell).collect();
    let text = format!("[{}]", cells.join(","));
    let short: String = text.chars().take(ROW).collect();
    printable(&if short.len() < text.len() { short + " …" } else { short })
}

/// A cell as it is kept; a number that JSON does not have is an object there.
fn cell(kept: &serde_json::Value) -> String {
    let named = kept.get("float").and_then(serde_json::Value::as_str);
    named.map_or_else(|| kept.to_string(), str::to_owned)
}

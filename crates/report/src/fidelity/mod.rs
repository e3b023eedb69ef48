//! The tables of the fidelity workload: what became of the documents of each configuration, who changes what, and who
//! is I-JSON-safe.

mod counts;
mod deepest;
mod grade;
mod kinds;

use jsonathlon_dataset::fidelity::Must;
use jsonathlon_results::manifest::Configuration;
use jsonathlon_results::record::Finding;
use jsonathlon_results::summary::{Entry, Run, Summary};
use serde::{Deserialize, Serialize};

use crate::section::{Section, by_class, printable};

/// As it is called in journals.
pub(crate) const NAME: &str = "fidelity";

/// The ways in, as findings name them.
const WAYS: [&str; 2] = ["bulk", "parameter"];

/// A case as the manifest tells of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Case {
    name: String,
    must: Must,
    source: String,
    probes: String,
    /// Whether it decides if a system is I-JSON-safe.
    decides: bool,
    bytes: u64,
    /// The document, made fit to be read.
    document: String,
}

/// All of them.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let cases = cases(run);
    let all: Vec<Tried<'_>> = by_class(run).into_iter().map(|one| Tried::of(one, &cases, summary)).collect();
    let mut sections = vec![counts::table(&all)];
    sections.extend(kinds::tables(&all));
    sections.push(grade::table(&all));
    sections.extend(grade::against_the_rfc(&all));
    sections.extend(deepest::table(&by_class(run), summary));
    sections
}

/// How to read the tables.
pub(crate) fn reading() -> Vec<String> {
    [
        "every document went alone into an empty table, by the bulk path and as one parameter; `same value` means exact \
         decimals, code units of strings, and members in any order",
        "what must be rejected is outside of JSON's grammar (RFC 8259, section 10: what writes JSON keeps to it); what is the \
         implementation's choice is within, and beyond what the RFC promises: other systems may read it differently",
        "I-JSON-safe: every object of I-JSON (RFC 7493) goes in by both ways and comes out with the same value",
        "every finding, with the system's own words and what came back, is in the journal, in `--json` and in `jsonathlon export --format csv`",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// The documents of a fidelity run; none of another.
pub(crate) fn cases(run: &Run) -> Vec<Case> {
    let own = run.manifest.settings.get(NAME).and_then(|own| own.get("cases"));
    own.and_then(|cases| Vec::deserialize(cases).ok()).unwrap_or_default()
}

/// What a configuration did with the cases.
struct Tried<'a> {
    configuration: &'a Configuration,
    /// With the entry of each; none where it was not tried yet, or could not be.
    cases: Vec<(&'a Case, Option<&'a Entry>)>,
}

impl<'a> Tried<'a> {
    fn of(configuration: &'a Configuration, cases: &'a [Case], summary: &'a Summary) -> Self {
        let own: std::collections::HashMap<&str, &Entry> = summary
            .results
            .iter()
            .filter(|entry| entry.cell.workload == NAME && configuration.has(&entry.cell))
            .filter(|entry| !entry.findings.is_empty())
            .map(|entry| (entry.cell.step.word(), entry))
            .collect();
        let cases = cases.iter().map(|case| (case, own.get(case.name.as_str()).copied())).collect();
        Self { configuration, cases }
    }

    /// What it is called in these tables.
    fn name(&self) -> String {
        let id = &self.configuration.id;
        printable(&format!("{} {}", id.system, id.variant))
    }

    /// What it is called in columns.
    fn columns(&self) -> Vec<String> {
        let id = &self.configuration.id;
        vec![format!("{} {}", id.system, id.version), id.variant.clone()]
    }

    fn entries(&self) -> impl Iterator<Item = (&'a Case, &'a Entry)> {
        self.cases.iter().filter_map(|(case, entry)| Some((*case, (*entry)?)))
    }
}

/// What was found of a way in.
fn way_in<'a>(entry: &'a Entry, way: &str) -> Option<&'a Finding> {
    entry.finding(way)
}

/// What was found of the whole document by a way in.
fn whole<'a>(entry: &'a Entry, way: &str) -> Option<&'a Finding> {
    entry.finding(&format!("{way}, whole"))
}

/// What was found of the extracted value by a way in.
fn value<'a>(entry: &'a Entry, way: &str) -> Option<&'a Finding> {
    entry.finding(&format!("{way}, value"))
}

/// Whether a document was taken by a way in: accepted, and there. A bulk path may pass over what it makes no document
/// of.
fn is_taken(entry: &Entry, way: &str) -> bool {
    let is = |finding: Option<&Finding>, state: &str| finding.is_some_and(|finding| finding.state == state);
    is(way_in(entry, way), "accepted") && !is(whole(entry, way), "lost")
}

/// Names with a limit, and how many more there are.
fn listed(names: &[String], most: usize) -> String {
    let shown = names.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(most) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}

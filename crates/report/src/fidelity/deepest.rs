//! Table of the deepest document that each system accepts.

use jsonathlon_dataset::fidelity::Nesting;
use jsonathlon_results::summary::{CellSummary, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::workload::WorkloadKind;

use crate::section::{Column, Section, printable};

/// A row for each configuration that was probed; `None` if no configuration was.
pub(super) fn table(configurations: &[&Configuration], summary: &Summary) -> Option<Section> {
    let columns = vec![
        Column::words("system"),
        Column::words("variant"),
        Column::number("arrays"),
        Column::number("objects"),
        Column::words("first refused").main(),
    ];
    let mut section = Section::new("deepest document accepted".to_owned(), columns);
    for configuration in configurations {
        let find_entry = |nesting: Nesting| {
            summary.results.iter().find(|entry| {
                let cell = &entry.cell;
                cell.workload == WorkloadKind::Fidelity
                    && configuration.contains_cell(cell)
                    && cell.step.word() == nesting.name()
            })
        };
        let entries = Nesting::ALL.map(find_entry);
        if entries.iter().all(Option::is_none) {
            continue;
        }
        let id = &configuration.id;
        let mut row = vec![format!("{} {}", id.system, id.version), id.variant.clone()];
        row.extend(entries.map(levels));
        let rejections: Vec<String> = Nesting::ALL
            .into_iter()
            .zip(entries)
            .filter_map(|(nesting, entry)| {
                Some(format!("{}: {}", nesting.probes(), describe_rejection(entry?)?))
            })
            .collect();
        row.push(printable(&rejections.join("; ")));
        section.rows.push(row);
    }
    section.notes.push(
        "levels of the whole document, the object around it included, found to the level by the bulk path: one more is rejected"
            .to_owned(),
    );
    (!section.rows.is_empty()).then_some(section)
}

/// Number of levels of the deepest accepted document, as text.
fn levels(entry: Option<&CellSummary>) -> String {
    let Some(entry) = entry else { return "–".to_owned() };
    match (entry.finding("levels accepted"), entry.finding("levels rejected")) {
        (Some(accepted), Some(_)) => accepted.state.to_string(),
        (Some(accepted), None) => format!("{} or more", accepted.state),
        (None, Some(rejected)) => format!("less than {}", rejected.state),
        (None, None) => "–".to_owned(),
    }
}

/// Levels of the first rejected document and why it was rejected, as text; `None` if none was rejected.
fn describe_rejection(entry: &CellSummary) -> Option<String> {
    let rejected = entry.finding("levels rejected")?;
    let reasons = rejected.kinds.join(", ");
    Some(match &rejected.message {
        Some(message) => format!("{} {reasons}, {message}", rejected.state),
        None => format!("{} {reasons}", rejected.state),
    })
}

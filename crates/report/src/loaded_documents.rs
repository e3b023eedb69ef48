//! Words for what a load rejected and what it changed.

use jsonathlon_results::summary::Run;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::record::{RecordBody, RoundTripOutcome};

use crate::section::{dash, printable};

/// Notes on rejected documents: the reasons with their counts, and the file that lists each document.
pub(crate) fn describe_rejects(run: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    for rejects in run.records.iter().filter_map(|record| match &record.body {
        RecordBody::Rejects(rejects) => Some(rejects),
        _ => None,
    }) {
        for (message, reason) in &rejects.reasons {
            let reason_text = reason.describe(&printable(message));
            notes.push(format!("{} rejected {}: {reason_text}", rejects.cell.id.system, reason.documents));
        }
        if let Some(file) = &rejects.file {
            notes.push(format!("  each one is listed in {}/{file}", run.path));
        }
    }
    notes
}

/// What a system preserves of the documents that it has loaded, or how it changes them, in words.
pub(crate) fn describe_structure(run: &Run, configuration: &Configuration) -> String {
    let structure = run.records.iter().find_map(|record| match &record.body {
        RecordBody::Structure(structure) if configuration.contains_cell(&structure.cell) => Some(structure),
        _ => None,
    });
    match structure {
        None => dash(),
        Some(structure) => match structure.retains {
            RoundTripOutcome::Bytes => "same bytes".to_owned(),
            RoundTripOutcome::Value => "same values".to_owned(),
            RoundTripOutcome::Changed => {
                let changes: Vec<&str> = structure.changes.keys().map(String::as_str).collect();
                changes.join(", ")
            }
            RoundTripOutcome::Unknown => "unknown".to_owned(),
        },
    }
}

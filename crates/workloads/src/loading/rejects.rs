//! Lists rejected documents in the user's terms: line and file, and the reason without the document itself.

mod reason;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use jsonathlon_dataset::source::Place;
use jsonathlon_dataset::stage::StagedDocuments;
use jsonathlon_schema::record::{FailureKind, Reason, RecordBody, Rejects};

use super::reject_search::RejectedDocument;
use crate::RunError;
use crate::cells::Cells;
use crate::recorder::TrialRecorder;
use crate::session::TrialError;
use crate::target::Target;

/// Number of reasons that the journal distinguishes; the file of rejected documents contains all of them.
const MAX_REASONS: usize = 20;

/// A document that a system rejected.
pub(super) struct RejectedEntry {
    /// Number among the offered documents, from 0.
    ordinal: u64,
    /// Size in bytes, including a newline.
    pub(super) bytes: u64,
    /// Input file and line, or document; `None` if unknown.
    place: Option<Place>,
    /// The system's error message, without the document and without file names of this program.
    reason: String,
}

/// Describes rejected documents in the order in which they were offered. `lines` are numbers of lines in the
/// clean file, `suspects` are numbers among the offered documents.
///
/// # Errors
/// If the documents cannot be read again.
pub(super) fn describe(
    staged: &StagedDocuments,
    program_files: &[String],
    lines: &[RejectedDocument],
    suspects: &[RejectedDocument],
) -> io::Result<Vec<RejectedEntry>> {
    let entry = |ordinal: u64, document: &[u8], reason: &str| {
        let reason = strip_program_files(&reason::strip_document(reason, document), program_files);
        RejectedEntry { ordinal, bytes: document.len() as u64 + 1, place: staged.place(ordinal), reason }
    };
    let mut rejected = Vec::with_capacity(lines.len() + suspects.len());
    for_each_line(staged, lines, &mut |rejection, document| {
        rejected.push(entry(staged.offered_ordinal(rejection.ordinal), document, &rejection.reason));
    })?;
    for rejection in suspects {
        let index = staged.suspects.binary_search_by_key(&rejection.ordinal, |suspect| suspect.ordinal);
        let suspect = index.ok().and_then(|index| staged.suspects.get(index));
        let document = suspect.map_or(Ok(Vec::new()), |suspect| staged.suspect_bytes(suspect))?;
        rejected.push(entry(rejection.ordinal, &document, &rejection.reason));
    }
    rejected.sort_by_key(|document| document.ordinal);
    Ok(rejected)
}

/// Removes names of this program's own files, and line numbers in them, from a system's error message.
pub(super) fn strip_program_files(message: &str, program_files: &[String]) -> String {
    reason::strip_program_files(message, program_files)
}

/// Calls `visit` for each rejected line of the clean file, with its document.
fn for_each_line(
    staged: &StagedDocuments,
    rejected: &[RejectedDocument],
    visit: &mut dyn FnMut(&RejectedDocument, &[u8]),
) -> io::Result<()> {
    let mut remaining = rejected.iter().peekable();
    if remaining.peek().is_none() {
        return Ok(());
    }
    let mut reader = BufReader::with_capacity(1 << 20, File::open(&staged.clean_file)?);
    let mut line = Vec::new();
    for number in 0_u64.. {
        line.clear();
        if remaining.peek().is_none() || reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        while let Some(rejection) = remaining.next_if(|rejection| rejection.ordinal == number) {
            visit(rejection, line.strip_suffix(b"\n").unwrap_or(&line));
        }
    }
    // A number beyond the last line is a driver's error; report it with an empty document.
    remaining.for_each(|rejection| visit(rejection, &[]));
    Ok(())
}

/// Writes the rejected documents to a file and records their number by reason in the journal.
pub(super) fn record(
    cells: Cells<'_>,
    rejected: &[RejectedEntry],
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    if rejected.is_empty() {
        return Ok(());
    }
    let mut lines = Vec::new();
    for document in rejected {
        let place = document.place.as_ref();
        let mut line = serde_json::json!({
            "ordinal": document.ordinal,
            "input": place.map(|place| &*place.input),
            "line": place.and_then(Place::line),
            "reason": document.reason,
        });
        // Of an input that is not read as lines, the number of the document within it and its first byte.
        if let Some(number) = place.and_then(Place::document) {
            line["document"] = number.into();
        }
        if let Some(byte) = place.and_then(|place| place.byte) {
            line["document_byte"] = byte.into();
        }
        lines.extend_from_slice(line.to_string().as_bytes());
        lines.push(b'\n');
    }
    let file = format!("rejects/{}.ndjson", cells.target.file_name());
    recorder.folder.write_file(&file, &lines)?;
    let cell = cells.load();
    let key = format!("rejects:{}", cell.key());
    let reasons = by_reason(rejected, cells.target);
    recorder.append(key, RecordBody::Rejects(Rejects { cell, file: Some(file), reasons }))
}

/// Failure of a load from which the system accepted no document.
pub(super) fn load_failure(rejected: &[RejectedEntry], target: &Target) -> TrialError {
    let reasons = by_reason(rejected, target);
    let most_common = reasons.iter().max_by_key(|(_, reason)| reason.documents);
    let explanation =
        most_common.map_or_else(String::new, |(kind, reason)| format!(": {}", reason.describe(kind)));
    let count = rejected.len();
    let documents =
        if count == 1 { "the only document".to_owned() } else { format!("all {count} documents") };
    TrialError::failed(FailureKind::Refused, format!("it refused {documents}{explanation}"))
}

fn by_reason(rejected: &[RejectedEntry], target: &Target) -> BTreeMap<String, Reason> {
    let mut reasons: BTreeMap<String, Reason> = BTreeMap::new();
    for document in rejected {
        let kind = reason::kind(&document.reason);
        let is_known = reasons.len() < MAX_REASONS || reasons.contains_key(&kind);
        let new_reason = || Reason {
            documents: 0,
            // File names may contain control characters, which must not reach the terminal.
            first: document.place.as_ref().map(|place| place.to_string().replace(char::is_control, "?")),
            remedy: target.configuration.remedy(&document.reason).map(str::to_owned),
        };
        let kind = if is_known { kind } else { "other reasons".to_owned() };
        reasons.entry(kind).or_insert_with(new_reason).documents += 1;
    }
    reasons
}

pub(super) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

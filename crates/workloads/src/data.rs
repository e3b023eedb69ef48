//! Reports and records the run's documents, and the input that is not a document or was not read.

use std::collections::BTreeMap;

use jsonathlon_dataset::skipped_entries;
use jsonathlon_dataset::source::Source;
use jsonathlon_dataset::stage::{NoDocument, StagedDocuments};
use jsonathlon_results::folder::RunFolder;
use jsonathlon_schema::manifest::DataSetInfo;

use crate::RunError;
use crate::observer::{Observer, RunEvent};

/// Number of non-document lines whose place and fault are reported; the file in the run folder lists all of
/// them.
const MAX_REPORTED: usize = 3;

/// Says how the source's files were read, and warns about text that is not a document and about files that were
/// not read.
pub(crate) fn warn_about_input(staged: &StagedDocuments, observer: &mut dyn Observer) {
    for note in &staged.input_notes {
        observer.event(&RunEvent::Note(note));
    }
    let left_out = skipped_entries::describe(&staged.left_out);
    let no_documents = match staged.no_documents.len() {
        0 => None,
        count => {
            let faults = first_faults(staged).join("; ");
            let is_line = staged.no_documents.iter().all(|found| found.place.line().is_some());
            let unit = if is_line { "line" } else { "piece of text" };
            Some(match count {
                1 => format!("1 {unit} is no JSON, and no document: {faults}"),
                _ if is_line => format!("{count} lines are no JSON, and no documents: {faults}"),
                _ => format!("{count} pieces of text are no JSON, and no documents: {faults}"),
            })
        }
    };
    for text in left_out.into_iter().chain(no_documents) {
        observer.event(&RunEvent::Warning(&text));
    }
}

/// Place and fault of the first [`MAX_REPORTED`] lines that are not documents.
fn first_faults(staged: &StagedDocuments) -> Vec<String> {
    let reported = staged.no_documents.iter().take(MAX_REPORTED);
    reported.map(|NoDocument { place, fault }| format!("{place}: {fault}")).collect()
}

/// Writes all lines that are not documents to [`DataSetInfo::NO_DOCUMENTS`] in the run folder. Writes no file
/// if there are none. `byte` is the offset of the fault in the line or document, `document_byte` that of the
/// document in its decoded input.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn list_no_documents(staged: &StagedDocuments, folder: &RunFolder) -> Result<(), RunError> {
    if staged.no_documents.is_empty() {
        return Ok(());
    }
    let mut lines = Vec::new();
    for NoDocument { place, fault } in &staged.no_documents {
        let reason = fault.reason.to_string();
        let line = match place.line() {
            Some(line) => serde_json::json!({
                "input": &*place.input, "line": line, "byte": fault.offset, "reason": reason,
            }),
            None => serde_json::json!({
                "input": &*place.input, "document": place.document(), "document_byte": place.byte,
                "byte": fault.offset, "reason": reason,
            }),
        };
        lines.extend_from_slice(line.to_string().as_bytes());
        lines.push(b'\n');
    }
    folder.write_file(DataSetInfo::NO_DOCUMENTS, &lines)?;
    Ok(())
}

/// Builds the manifest's description of the documents, with a `description` of the source for readers. `staging_s` is the time that staging took.
///
/// # Errors
/// If the source cannot be serialised as JSON.
pub(crate) fn describe(
    source: &Source,
    description: String,
    staged: &StagedDocuments,
    staging_s: f64,
) -> serde_json::Result<DataSetInfo> {
    let reference_sizes = staged.compressed_sizes.as_ref().map_or_else(BTreeMap::new, |sizes| {
        BTreeMap::from([
            ("raw".to_owned(), sizes.raw),
            ("gzip-6".to_owned(), sizes.gzip6),
            ("lz4".to_owned(), sizes.lz4),
            ("zstd-1".to_owned(), sizes.zstd1),
        ])
    });
    Ok(DataSetInfo {
        documents: staged.documents,
        bytes: staged.bytes,
        digest: staged.digest.clone(),
        source: description,
        origin: serde_json::to_value(source)?,
        staging_s,
        no_documents: staged.no_documents.len() as u64,
        first_no_documents: first_faults(staged),
        left_out: skipped_entries::describe(&staged.left_out),
        reference_sizes,
    })
}

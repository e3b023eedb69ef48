//! Staging of documents that are generated again whenever they are needed: only counts and a digest are kept.

use std::path::Path;

use jsonathlon_schema::settings::fidelity::CorpusSelection;

use super::{CLEAN_FILE, Progress, StagedDocuments};
use crate::digest::digest_text;
use crate::error::DataError;
use crate::fidelity;
use crate::source::{Block, Places, Source};

/// Reads a source to its end, counts its documents and digests them; writes no file.
pub(super) fn count(
    source: &Source,
    folder: &Path,
    progress: &mut dyn FnMut(Progress),
    cancelled: &dyn Fn() -> bool,
) -> Result<StagedDocuments, DataError> {
    let mut lines = source.open()?;
    let mut hasher = blake3::Hasher::new();
    let mut block = Block::new();
    while lines.next_block(&mut block)? {
        if cancelled() {
            return Err(DataError::Cancelled);
        }
        hasher.update(block.bytes());
        let tally = lines.tally();
        progress(Progress {
            documents: tally.documents,
            bytes: tally.bytes,
            suspects: 0,
            done: tally.done,
            total: tally.total,
        });
    }
    let tally = lines.tally();
    Ok(staged(tally.documents, tally.bytes, digest_text(&hasher), folder))
}

/// Counts and digests the documents of a fidelity corpus; writes no file.
pub(super) fn corpus(selection: &CorpusSelection, folder: &Path) -> Result<StagedDocuments, DataError> {
    let cases = fidelity::selected_cases(selection)?;
    let bytes = cases.iter().map(|case| case.bytes.len() as u64).sum();
    Ok(staged(cases.len() as u64, bytes, fidelity::digest(&cases), folder))
}

fn staged(documents: u64, bytes: u64, digest: String, folder: &Path) -> StagedDocuments {
    StagedDocuments {
        documents,
        bytes,
        blank_lines: 0,
        digest,
        no_documents: Vec::new(),
        clean_file: folder.join(CLEAN_FILE),
        clean_documents: 0,
        clean_bytes: 0,
        suspects: Vec::new(),
        compressed_sizes: None,
        samples: Vec::new(),
        left_out: Vec::new(),
        input_notes: Vec::new(),
        places: Places::default(),
        folder: folder.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nested::{InnerContent, NestedTable};
    use crate::stage::{IgnoreDocuments, StageOptions, stage};

    #[test]
    fn large_documents_are_named_by_their_bytes_and_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let staged_with = |seed, data| {
            let tables = [(2, 3), (5, 2)].map(|(n, documents)| NestedTable { n, documents, data, seed });
            let source = Source::Ordinals { tables: tables.to_vec() };
            let options = StageOptions::default();
            stage(&source, folder.path(), options, &mut IgnoreDocuments, &mut |_| {}, &|| false).unwrap()
        };
        let staged = staged_with(1, InnerContent::Distinct);
        assert_eq!((staged.documents, staged.clean_documents), (5, 0));
        // `{"key":0,"doc":…}` and a newline add 17 bytes to a document.
        let lengths = [(2, 0), (2, 1), (2, 2), (5, 0), (5, 1)].map(|(n, key)| {
            crate::nested::NestedGenerator::new(NestedTable {
                n,
                documents: 3,
                data: InnerContent::Distinct,
                seed: 1,
            })
            .length(key)
                + 17
        });
        assert_eq!(staged.bytes, lengths.iter().sum::<u64>());
        assert_eq!(staged.digest, staged_with(1, InnerContent::Distinct).digest);
        assert_ne!(staged.digest, staged_with(2, InnerContent::Distinct).digest);
        let [first, second] = [1, 2].map(|seed| staged_with(seed, InnerContent::Identical));
        assert_eq!(first.digest, second.digest);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

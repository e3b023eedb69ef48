//! Writes the rows that systems load.

use std::path::{Path, PathBuf};

use crate::digest::digest_text;
use crate::error::DataError;
use crate::own_records::{IndexEntry, ROWS_FILE};
use crate::row_file::RowFile;
use crate::stage::{RowFiles, SUSPECTS_FILE, Sampler, StagedDocuments, Suspect};

/// Number of rows that are kept for reading back.
const MAX_SAMPLES: usize = 1_000;

pub(super) struct RowWriter {
    rows: RowFile,
    suspect_rows: Option<RowFile>,
    suspects_path: PathBuf,
    suspects: Vec<Suspect>,
    hasher: blake3::Hasher,
    sampler: Sampler,
    clean_documents: u64,
    row: Vec<u8>,
}

impl RowWriter {
    pub(super) fn create(folder: &Path) -> Result<Self, DataError> {
        Ok(Self {
            rows: RowFile::create(folder.join(ROWS_FILE))?,
            suspect_rows: None,
            suspects_path: folder.join(SUSPECTS_FILE),
            suspects: Vec::new(),
            hasher: blake3::Hasher::new(),
            sampler: Sampler::new(MAX_SAMPLES),
            clean_documents: 0,
            row: Vec::new(),
        })
    }

    /// Writes the row of the next document and notes in its entry where the document is. `text_key` is `None`
    /// for an integer key.
    pub(super) fn write(
        &mut self,
        text_key: Option<&[u8]>,
        document: &[u8],
        is_suspect: bool,
        staged: &StagedDocuments,
        entry: &mut IndexEntry,
    ) -> Result<(), DataError> {
        let row = &mut self.row;
        row.clear();
        row.extend_from_slice(b"{\"key\":");
        match text_key {
            Some(key) => {
                let key = String::from_utf8_lossy(key);
                serde_json::to_writer(&mut *row, &key)
                    .map_err(|error| DataError::io("write", Path::new(ROWS_FILE), error.into()))?;
            }
            None => row.extend_from_slice(itoa::Buffer::new().format(entry.key.cast_signed()).as_bytes()),
        }
        row.extend_from_slice(b",\"doc\":");
        let start = row.len() as u64;
        row.extend_from_slice(document);
        row.extend_from_slice(b"}\n");
        self.hasher.update(row);
        let file = if is_suspect {
            match &mut self.suspect_rows {
                Some(file) => file,
                slot => slot.insert(RowFile::create(self.suspects_path.clone())?),
            }
        } else {
            &mut self.rows
        };
        (entry.offset, entry.is_suspect) = (file.length() + start, is_suspect);
        let line = row.strip_suffix(b"\n").unwrap_or(row);
        if is_suspect {
            let traits = staged.suspects.get(self.suspects.len()).map(|suspect| suspect.traits);
            self.suspects.push(Suspect {
                ordinal: entry.ordinal,
                traits: traits.unwrap_or_default(),
                offset: file.length(),
                length: line.len() as u64,
            });
        } else {
            self.sampler.offer(self.clean_documents, entry.ordinal, line);
            self.clean_documents += 1;
        }
        file.write(row)
    }

    /// Completes the files and returns the rows in place of the documents.
    pub(super) fn finish(
        self,
        staged: &StagedDocuments,
        folder: &Path,
    ) -> Result<StagedDocuments, DataError> {
        let clean_bytes = self.rows.length();
        let clean_file = self.rows.finish()?;
        self.suspect_rows.map(RowFile::finish).transpose()?;
        Ok(staged.with_rows(RowFiles {
            clean_file,
            clean_bytes,
            folder: folder.to_path_buf(),
            suspects: self.suspects,
            digest: digest_text(&self.hasher),
            samples: self.sampler.finish(),
        }))
    }
}

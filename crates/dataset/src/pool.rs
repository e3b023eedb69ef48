//! Splits staged documents into a base, which systems load, and a pool, which comes in while questions are asked.

use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::row_file::RowFile;
use crate::scan::Scanner;
use crate::source::{Block, Source};
use crate::stage::{DocumentVisitor, RowFiles, SUSPECTS_FILE, Sampler, StagedDocuments, Suspect};

/// Name of the file of the pool's documents.
const POOL_FILE: &str = "pool.ndjson";
/// Name of the file of the base's clean documents.
const BASE_FILE: &str = "base.ndjson";
/// Number of documents of the base that are kept for reading back.
const MAX_SAMPLES: usize = 1_000;

/// Documents that come in later: the first ones of the data, without suspects, which some system may reject.
#[derive(Clone, Debug)]
pub struct DocumentPool {
    /// File of the documents, one a line, in the order of the data.
    pub file: PathBuf,
    /// Number of documents in the file.
    pub documents: u64,
    /// Number of suspects among the first documents, which are left out of the pool.
    pub left_out: u64,
}

impl DocumentPool {
    /// Reads the documents in the order of the data and passes each to `observer`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or its number of documents has changed ([`DataError::Changed`]).
    pub fn visit(&self, observer: &mut dyn DocumentVisitor) -> Result<(), DataError> {
        if self.documents == 0 {
            return Ok(());
        }
        let mut lines = Source::lines_of(self.file.clone()).open()?;
        let mut scanner = Scanner::new();
        let mut block = Block::new();
        let mut found = 0;
        while lines.next_block(&mut block)? {
            block.scan(&mut scanner, |_, scan| {
                observer.document(&scan.event);
                found += 1;
                Ok::<_, DataError>(())
            })?;
        }
        if found != self.documents {
            return Err(DataError::Changed { path: self.file.clone(), expected: self.documents, found });
        }
        Ok(())
    }
}

/// Staged documents in two parts.
#[derive(Clone, Debug)]
pub struct SplitDocuments {
    /// Documents that systems load, with their suspects. The digest is that of all documents, pool included.
    pub base: StagedDocuments,
    /// Documents that come in later.
    pub pool: DocumentPool,
}

/// Splits documents: the first `pool_size` of them, suspects included in the count, are the pool; all others are
/// the base. Files are written to `folder`, which is created if it does not exist and must not be the folder in
/// which the documents were staged. On any error, partial files are removed.
///
/// # Errors
///
/// [`DataError::Range`] if no document is left for the base. [`DataError::Cancelled`] if `cancelled` returned
/// `true`. Errors of reading and writing files.
pub fn split_documents(
    staged: &StagedDocuments,
    pool_size: u64,
    folder: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<SplitDocuments, DataError> {
    if pool_size >= staged.documents {
        let reason = format!(
            "{pool_size} of {} documents would come in while questions are asked, so that none is left to load; \
             give more documents, or a smaller --growth",
            staged.documents
        );
        return Err(DataError::Range { reason });
    }
    std::fs::create_dir_all(folder).map_err(|error| DataError::io("write", folder, error))?;
    if staged.is_staged_in(folder) {
        // The suspects of the base would replace all suspects.
        return Err(DataError::InTheWay { path: folder.join(SUSPECTS_FILE) });
    }
    let outcome = split(staged, pool_size, folder, cancelled);
    if outcome.is_err() {
        for name in [POOL_FILE, BASE_FILE, SUSPECTS_FILE] {
            // Best effort: files that do not exist are not removed.
            let _ = std::fs::remove_file(folder.join(name));
        }
    }
    outcome
}

fn split(
    staged: &StagedDocuments,
    pool_size: u64,
    folder: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<SplitDocuments, DataError> {
    let mut writer = SplitWriter::create(pool_size, folder)?;
    let mut visit =
        |ordinal: u64, text: &[u8], is_suspect: bool| writer.add(ordinal, text, is_suspect, staged);
    let mut pause = || if cancelled() { Err(DataError::Cancelled) } else { Ok(()) };
    staged.visit_in_order(&mut visit, &mut pause)?;
    writer.finish(staged, folder)
}

/// Writes the files of both parts.
struct SplitWriter {
    pool_size: u64,
    pool: RowFile,
    pool_documents: u64,
    base: RowFile,
    clean_documents: u64,
    suspects_file: RowFile,
    suspects: Vec<Suspect>,
    /// Number of suspects of both parts so far.
    suspects_seen: usize,
    sampler: Sampler,
}

impl SplitWriter {
    fn create(pool_size: u64, folder: &Path) -> Result<Self, DataError> {
        Ok(Self {
            pool_size,
            pool: RowFile::create(folder.join(POOL_FILE))?,
            pool_documents: 0,
            base: RowFile::create(folder.join(BASE_FILE))?,
            clean_documents: 0,
            suspects_file: RowFile::create(folder.join(SUSPECTS_FILE))?,
            suspects: Vec::new(),
            suspects_seen: 0,
            sampler: Sampler::new(MAX_SAMPLES),
        })
    }

    fn add(
        &mut self,
        ordinal: u64,
        text: &[u8],
        is_suspect: bool,
        staged: &StagedDocuments,
    ) -> Result<(), DataError> {
        let traits = staged.suspects.get(self.suspects_seen).map(|suspect| suspect.traits);
        self.suspects_seen += usize::from(is_suspect);
        let file = match (ordinal.checked_sub(self.pool_size), is_suspect) {
            (None, true) => return Ok(()),
            (None, false) => {
                self.pool_documents += 1;
                &mut self.pool
            }
            (Some(ordinal), false) => {
                self.sampler.offer(self.clean_documents, ordinal, text);
                self.clean_documents += 1;
                &mut self.base
            }
            (Some(ordinal), true) => {
                self.suspects.push(Suspect {
                    ordinal,
                    traits: traits.unwrap_or_default(),
                    offset: self.suspects_file.length(),
                    length: text.len() as u64,
                });
                &mut self.suspects_file
            }
        };
        file.write(text)?;
        file.write(b"\n")
    }

    fn finish(self, staged: &StagedDocuments, folder: &Path) -> Result<SplitDocuments, DataError> {
        let Self { pool_size, pool_documents, clean_documents, suspects, sampler, .. } = self;
        let clean_bytes = self.base.length();
        let clean_file = self.base.finish()?;
        self.suspects_file.finish()?;
        let pool = DocumentPool {
            file: self.pool.finish()?,
            documents: pool_documents,
            left_out: pool_size - pool_documents,
        };
        let rows = RowFiles {
            clean_file,
            clean_bytes,
            folder: folder.to_path_buf(),
            suspects,
            digest: staged.digest.clone(),
            samples: sampler.finish(),
        };
        Ok(SplitDocuments { base: staged.starting_at(pool_size, clean_documents, rows), pool })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scan::Event;
    use crate::stage::{IgnoreDocuments, StageOptions, stage};

    /// Stages lines, of which those with a duplicate key are suspects.
    fn staged(lines: &[String], folder: &Path) -> StagedDocuments {
        let file = folder.join("data.ndjson");
        std::fs::write(&file, lines.concat()).unwrap();
        let options = StageOptions { measure_compressed_sizes: false, ..StageOptions::default() };
        let staging = folder.join("staged");
        stage(&Source::Path(file), &staging, options, &mut IgnoreDocuments, &mut |_| {}, &|| false).unwrap()
    }

    fn line(number: usize, is_suspect: bool) -> String {
        match is_suspect {
            true => format!("{{\"kind\":\"x\",\"kind\":\"k{number}\"}}\n"),
            false => format!("{{\"kind\":\"k{number}\"}}\n"),
        }
    }

    #[derive(Default)]
    struct Kinds(Vec<String>);

    impl DocumentVisitor for Kinds {
        fn document(&mut self, event: &Event<'_>) {
            self.0.push(event.kind.as_deref().unwrap_or_default().to_owned());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_document_is_in_one_part_or_left_out(
            suspects in prop::collection::vec(prop::bool::weighted(0.2), 2..60),
            share in 0.0_f64..1.0,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let lines: Vec<String> =
                suspects.iter().enumerate().map(|(number, suspect)| line(number, *suspect)).collect();
            let staged = staged(&lines, folder.path());
            let size = ((lines.len() - 1) as f64 * share) as usize;
            let target = folder.path().join("split");
            let split = split_documents(&staged, size as u64, &target, &|| false).unwrap();
            let kinds = |numbers: &mut dyn Iterator<Item = usize>| -> Vec<String> {
                numbers.map(|number| format!("k{number}")).collect()
            };
            let mut pool = Kinds::default();
            split.pool.visit(&mut pool).unwrap();
            prop_assert_eq!(&pool.0, &kinds(&mut (0..size).filter(|number| !suspects[*number])));
            prop_assert_eq!(split.pool.documents + split.pool.left_out, size as u64);
            let mut base = Kinds::default();
            split.base.visit_clean_except(&Default::default(), &mut base).unwrap();
            prop_assert_eq!(&base.0, &kinds(&mut (size..lines.len()).filter(|number| !suspects[*number])));
            let mut single = Kinds::default();
            split.base.visit_suspects(&split.base.suspects, &mut single).unwrap();
            prop_assert_eq!(&single.0, &kinds(&mut (size..lines.len()).filter(|number| suspects[*number])));
            prop_assert_eq!(split.base.documents, (lines.len() - size) as u64);
            for ordinal in 0..split.base.documents {
                let place = split.base.place(ordinal).unwrap();
                prop_assert_eq!(place.line(), Some(ordinal + size as u64 + 1));
            }
        }
    }

    #[test]
    fn a_pool_of_everything_leaves_nothing_to_load() {
        let folder = tempfile::tempdir().unwrap();
        let staged = staged(&[line(0, false), line(1, false)], folder.path());
        let error = split_documents(&staged, 2, &folder.path().join("split"), &|| false).unwrap_err();
        assert!(error.to_string().contains("smaller --growth"), "{error}");
        let same = split_documents(&staged, 1, &folder.path().join("staged"), &|| false).unwrap_err();
        assert!(matches!(same, DataError::InTheWay { .. }), "{same}");
    }
}

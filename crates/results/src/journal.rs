//! Journal of a run: one JSON line per record, on disk before the next trial begins. It is only appended to, except
//! that the records of an incomplete unit of work are removed before it is repeated.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jsonathlon_schema::record::{JOURNAL_VERSION, JournalRecord};

use crate::ResultsError;

/// Journal opened for appending records.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    keys: HashSet<String>,
}

impl Journal {
    /// Opens or creates the journal at `path` and returns it with the records that it contains. A last line
    /// torn by a crash is cut off, so that the next record starts on a new line.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the file cannot be read or written, [`ResultsError::Corrupt`] if a line other
    /// than the last is not a record or a key occurs twice, [`ResultsError::Version`] if a record has another
    /// format.
    pub fn open(path: &Path) -> Result<(Self, Vec<JournalRecord>), ResultsError> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(ResultsError::io("open", path))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(ResultsError::io("read", path))?;
        let (records, valid_length) = parse(&text, path)?;
        if valid_length < text.len() {
            file.set_len(valid_length as u64).map_err(ResultsError::io("write", path))?;
        }
        file.seek(SeekFrom::End(0)).map_err(ResultsError::io("read", path))?;
        let keys = records.iter().map(|record| record.key.clone()).collect();
        Ok((Self { file, path: path.to_owned(), keys }, records))
    }

    /// Returns `true` if the journal contains a record with this key.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Appends a record and syncs it to disk. Returns `false` and writes nothing if the key exists already,
    /// so that every trial has exactly one record however often the run is interrupted.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the line cannot be written or synced.
    pub fn append(&mut self, record: &JournalRecord) -> Result<bool, ResultsError> {
        let is_new = self.append_unsynced(record)?;
        if is_new {
            self.sync()?;
        }
        Ok(is_new)
    }

    /// Appends a record like [`Journal::append`] but without syncing. A power failure may lose all records
    /// since the last sync; their trials are then repeated.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the line cannot be written.
    pub fn append_unsynced(&mut self, record: &JournalRecord) -> Result<bool, ResultsError> {
        if self.keys.contains(&record.key) {
            return Ok(false);
        }
        let mut line = serde_json::to_vec(record).map_err(|error| ResultsError::Corrupt {
            path: self.path.clone(),
            line: self.keys.len() + 1,
            message: error.to_string(),
        })?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(ResultsError::io("append to", &self.path))?;
        self.keys.insert(record.key.clone());
        Ok(true)
    }

    /// Removes the records with these keys, for work that must be repeated because it is a unit of which only a part
    /// is on record. A crash leaves either all of them or none.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the journal cannot be read or replaced.
    pub fn discard(&mut self, discarded: &HashSet<String>) -> Result<(), ResultsError> {
        let text = std::fs::read(&self.path).map_err(ResultsError::io("read", &self.path))?;
        let (records, _) = parse(&text, &self.path)?;
        let lines = text.split_inclusive(|byte| *byte == b'\n').zip(&records);
        let kept: Vec<&[u8]> =
            lines.filter(|(_, record)| !discarded.contains(&record.key)).map(|(line, _)| line).collect();
        let new_path = self.path.with_extension("new");
        let write = |path: &Path| {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
            file.write_all(&kept.concat())?;
            file.sync_data()?;
            Ok::<_, std::io::Error>(file)
        };
        // Further records are appended behind the last one through the same file.
        self.file = write(&new_path).map_err(ResultsError::io("write", &new_path))?;
        std::fs::rename(&new_path, &self.path).map_err(ResultsError::io("replace", &self.path))?;
        self.keys.retain(|key| !discarded.contains(key));
        Ok(())
    }

    /// Syncs everything that was appended to disk.
    ///
    /// # Errors
    /// [`ResultsError::Io`] if the file cannot be synced.
    pub fn sync(&mut self) -> Result<(), ResultsError> {
        self.file.sync_data().map_err(ResultsError::io("sync", &self.path))
    }
}

/// Reads the records of a journal without opening it for writing.
///
/// # Errors
/// [`ResultsError::Io`] if the file cannot be read; [`ResultsError::Corrupt`] and [`ResultsError::Version`]
/// as in [`Journal::open`].
pub fn read(path: &Path) -> Result<Vec<JournalRecord>, ResultsError> {
    let text = std::fs::read(path).map_err(ResultsError::io("read", path))?;
    Ok(parse(&text, path)?.0)
}

/// Returns the records and the length of the part with complete ones. A line is complete if it ends with a
/// newline *and* parses; only the last one may be incomplete.
fn parse(text: &[u8], path: &Path) -> Result<(Vec<JournalRecord>, usize), ResultsError> {
    let mut records: Vec<JournalRecord> = Vec::new();
    let mut seen = HashSet::new();
    let mut offset = 0;
    while let Some(length) = text.get(offset..).and_then(|rest| rest.iter().position(|b| *b == b'\n')) {
        let line = text.get(offset..offset + length).unwrap_or_default();
        let corrupt = |message: String| ResultsError::Corrupt {
            path: path.to_owned(),
            line: records.len() + 1,
            message,
        };
        if let Ok(Version { v }) = serde_json::from_slice::<Version>(line) {
            ResultsError::check_format(path, v, JOURNAL_VERSION)?;
        }
        match serde_json::from_slice::<JournalRecord>(line) {
            Ok(record) => {
                if !seen.insert(record.key.clone()) {
                    return Err(corrupt(format!("the key {} is there twice", record.key)));
                }
                records.push(record);
            }
            // A torn write may have left a newline behind, but only at the very end.
            Err(_) if offset + length + 1 == text.len() => return Ok((records, offset)),
            Err(error) => return Err(corrupt(error.to_string())),
        }
        offset += length + 1;
    }
    Ok((records, offset))
}

#[derive(serde::Deserialize)]
struct Version {
    v: u32,
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::record::RecordBody;
    use proptest::prelude::*;

    use super::*;

    fn resumed(n: u32) -> JournalRecord {
        JournalRecord::new(format!("resumed#{n}"), RecordBody::Resumed { at_ms: i64::from(n) })
    }

    #[test]
    fn a_key_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.ndjson");
        let (mut journal, records) = Journal::open(&path).unwrap();
        assert!(records.is_empty());
        assert!(journal.append(&resumed(1)).unwrap());
        assert!(!journal.append(&resumed(1)).unwrap());
        assert!(journal.contains_key("resumed#1") && !journal.contains_key("resumed#2"));
        assert_eq!(read(&path).unwrap(), [resumed(1)]);
    }

    #[test]
    fn discarded_records_can_be_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.ndjson");
        let (mut journal, _) = Journal::open(&path).unwrap();
        for n in 0..5 {
            journal.append(&resumed(n)).unwrap();
        }
        journal.discard(&HashSet::from(["resumed#1".to_owned(), "resumed#4".to_owned()])).unwrap();
        assert_eq!(read(&path).unwrap(), [0, 2, 3].map(resumed));
        assert!(journal.contains_key("resumed#3") && !journal.contains_key("resumed#4"));
        assert!(journal.append(&resumed(4)).unwrap() && !journal.append(&resumed(2)).unwrap());
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().1, [0, 2, 3, 4].map(resumed));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_journal_cut_anywhere_keeps_all_whole_records_and_goes_on(cut in 0_usize..400) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal.ndjson");
            let (mut journal, _) = Journal::open(&path).unwrap();
            for n in 0..5 {
                journal.append(&resumed(n)).unwrap();
            }
            drop(journal);
            let text = std::fs::read(&path).unwrap();
            let cut = cut.min(text.len());
            std::fs::write(&path, &text[..cut]).unwrap();
            let (mut journal, records) = Journal::open(&path).unwrap();
            let expected = text[..cut].iter().filter(|b| **b == b'\n').count();
            prop_assert_eq!(records.len(), expected);
            for n in 0..5 {
                journal.append(&resumed(n)).unwrap();
            }
            prop_assert_eq!(read(&path).unwrap(), (0..5).map(resumed).collect::<Vec<_>>());
        }
    }

    #[test]
    fn rubbish_in_the_middle_and_other_versions_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.ndjson");
        let good = serde_json::to_string(&resumed(1)).unwrap();
        std::fs::write(&path, format!("rubbish\n{good}\n")).unwrap();
        assert!(matches!(read(&path), Err(ResultsError::Corrupt { line: 1, .. })));
        std::fs::write(&path, format!("{good}\n{good}\n")).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("twice"));
        for version in [1, 9] {
            std::fs::write(&path, format!("{{\"v\":{version},\"key\":\"x\",\"type\":\"other\"}}\n")).unwrap();
            assert!(matches!(read(&path), Err(ResultsError::Version { format, .. }) if format == version));
        }
    }
}

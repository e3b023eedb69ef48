//! Tables of the mock: a file of documents per table and a file of counters, so that another process finds
//! everything.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use jsonathlon_dataset::reference::{Answers, Reference};
use jsonathlon_dataset::scan::{Scanner, Traits};
use jsonathlon_driver_api::driver::{DriverError, Result};

/// Default table. The file of a table contains its documents, one per line.
const TABLE: &str = "documents";
/// File with the number of executions of each statement.
const ASKS: &str = "asks.json";

/// Data folder of the mock with its current table.
pub(super) struct Store {
    folder: PathBuf,
    /// Table that the current statement is about.
    table: String,
    scanner: Scanner,
    /// Reference answers over the table, computed on first use.
    reference: Option<Reference>,
}

fn io_failure(action: &str, path: &Path, error: &io::Error) -> DriverError {
    DriverError::Refused(format!("failed to {action} {}: {error}", path.display()))
}

impl Store {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), table: TABLE.to_owned(), scanner: Scanner::new(), reference: None }
    }

    fn table(&self) -> PathBuf {
        self.folder.join(format!("{}.ndjson", self.table))
    }

    /// Switches to the table that a statement names: a word that begins with `documents`. Otherwise to the
    /// default table.
    pub(super) fn select_table(&mut self, statement: &str) {
        let is_name = |word: &&str| {
            word.starts_with(TABLE) && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let table = statement.split_whitespace().find(is_name).unwrap_or(TABLE);
        if table != self.table {
            self.table = table.to_owned();
            self.reference = None;
        }
    }

    /// Counts an execution of `statement` on disk. Returns its number, from 1.
    pub(super) fn count_execution(&self, statement: &str) -> Result<u64> {
        let path = self.folder.join(ASKS);
        // The file is changed in place: on a full disk there is no room for a second file, and the mock must
        // not be the first to notice that. The file is locked until it is closed, because clients run at the
        // same time.
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|error| io_failure("open", &path, &error))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|error| io_failure("read", &path, &error))?;
        let mut asks: BTreeMap<String, u64> = match text.as_slice() {
            [] => BTreeMap::new(),
            text => serde_json::from_slice(text)
                .map_err(|error| DriverError::Refused(format!("{} is damaged: {error}", path.display())))?,
        };
        let execution = asks.entry(statement.to_owned()).or_default();
        *execution += 1;
        let execution = *execution;
        let text = serde_json::to_vec(&asks).unwrap_or_default();
        // The file is not truncated first: counts only grow, so a kill between two system calls never leaves
        // a partial text.
        file.rewind()
            .and_then(|()| file.write_all(&text))
            .map_err(|error| io_failure("write", &path, &error))?;
        Ok(execution)
    }

    /// Path of the data folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn create(&mut self) -> Result<()> {
        let path = self.table();
        let created = OpenOptions::new().write(true).create_new(true).open(&path);
        created.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => DriverError::Refused("the table is there already".into()),
            _ => io_failure("create", &path, &error),
        })?;
        self.reference = None;
        Ok(())
    }

    pub(super) fn remove(&mut self) -> Result<()> {
        let path = self.table();
        std::fs::remove_file(&path).map_err(|error| self.table_error(&path, &error))?;
        self.reference = None;
        Ok(())
    }

    /// Size of the table's file in bytes.
    pub(super) fn bytes(&self) -> Result<u64> {
        let path = self.table();
        let metadata = std::fs::metadata(&path).map_err(|error| self.table_error(&path, &error))?;
        Ok(metadata.len())
    }

    /// Appends whole lines durably, either all or none.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<()> {
        let path = self.table();
        let mut file =
            OpenOptions::new().append(true).open(&path).map_err(|error| self.table_error(&path, &error))?;
        let length_before = file.metadata().map_err(|error| io_failure("read", &path, &error))?.len();
        if let Err(error) = file.write_all(lines).and_then(|()| file.sync_all()) {
            // A partial write must not stay. The first error is the one to report.
            file.set_len(length_before).ok();
            return Err(io_failure("write", &path, &error));
        }
        self.reference = None;
        Ok(())
    }

    /// Reason for which a system that understands JSON would reject the document. `None` if it would be
    /// accepted.
    pub(super) fn rejection_reason(&mut self, document: &[u8]) -> Option<String> {
        let scan = self.scanner.scan(document);
        scan.traits.intersects(Traits::UNREADABLE).then(|| match scan.fault {
            Some(fault) => format!("not JSON: {fault}"),
            None => "not an object".to_owned(),
        })
    }

    /// Exact answers to the questions over the table.
    pub(super) fn answers(&mut self) -> Result<Answers> {
        Ok(self.reference()?.answers())
    }

    /// Number of documents in the table.
    pub(super) fn documents(&mut self) -> Result<u64> {
        Ok(self.reference()?.documents())
    }

    fn reference(&mut self) -> Result<&Reference> {
        let reference = match self.reference.take() {
            Some(reference) => reference,
            None => {
                let mut reference = Reference::default();
                let mut scanner = Scanner::new();
                self.for_each_line(|line| reference.observe(&scanner.scan(line).event))?;
                reference
            }
        };
        Ok(self.reference.insert(reference))
    }

    /// Documents whose `time_us` is one of `keys`.
    pub(super) fn documents_with_times(&self, keys: &[i64]) -> Result<Vec<String>> {
        let mut scanner = Scanner::new();
        let mut documents = Vec::new();
        self.for_each_line(|line| {
            if scanner.scan(line).event.time_us.is_some_and(|time| keys.contains(&time)) {
                documents.push(String::from_utf8_lossy(line).into_owned());
            }
        })?;
        Ok(documents)
    }

    /// Calls `visit` with every document of the table.
    pub(super) fn for_each_line(&self, mut visit: impl FnMut(&[u8])) -> Result<()> {
        let path = self.table();
        let file = File::open(&path).map_err(|error| self.table_error(&path, &error))?;
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let count =
                reader.read_until(b'\n', &mut line).map_err(|error| io_failure("read", &path, &error))?;
            if count == 0 {
                return Ok(());
            }
            visit(line.strip_suffix(b"\n").unwrap_or(&line));
        }
    }

    fn table_error(&self, path: &Path, error: &io::Error) -> DriverError {
        match error.kind() {
            io::ErrorKind::NotFound => DriverError::Refused("no such table: create it first".into()),
            _ => io_failure("open", path, error),
        }
    }
}

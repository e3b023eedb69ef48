//! The mock's tables: each a file of documents, and beside them a file of counters, so that a restart in another
//! process finds all.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use jsonathlon_connection::driver::{DriverError, Result};
use jsonathlon_dataset::reference::{Answers, Reference};
use jsonathlon_dataset::scan::{Scanner, Traits};

/// The table of statements that name none. Its file has its documents, one a line, and so has that of any other.
const TABLE: &str = "documents";
/// How often each statement was asked.
const ASKS: &str = "asks.json";

/// The data folder.
pub(super) struct Store {
    folder: PathBuf,
    /// The table that statements are about.
    table: String,
    scanner: Scanner,
    /// Over the table; made when first needed.
    reference: Option<Reference>,
}

fn failed(action: &str, path: &Path, error: &io::Error) -> DriverError {
    DriverError::Refused(format!("failed to {action} {}: {error}", path.display()))
}

impl Store {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), table: TABLE.to_owned(), scanner: Scanner::new(), reference: None }
    }

    fn table(&self) -> PathBuf {
        self.folder.join(format!("{}.ndjson", self.table))
    }

    /// Goes over to the table that a statement names: a word that begins like that of the documents.
    pub(super) fn choose(&mut self, statement: &str) {
        let is_name = |word: &&str| {
            word.starts_with(TABLE) && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let table = statement.split_whitespace().find(is_name).unwrap_or(TABLE);
        if table != self.table {
            self.table = table.to_owned();
            self.reference = None;
        }
    }

    /// Counts an ask of `statement`, on disk, and tells which one it is, from 1.
    pub(super) fn count_ask(&self, statement: &str) -> Result<u64> {
        let path = self.folder.join(ASKS);
        // In place: on a full disk there is no room for a second file, and the mock must not be the one to
        // notice that first. Locked until it is closed: clients ask at the same time.
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|error| failed("open", &path, &error))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|error| failed("read", &path, &error))?;
        let mut asks: BTreeMap<String, u64> = match text.as_slice() {
            [] => BTreeMap::new(),
            text => serde_json::from_slice(text)
                .map_err(|error| DriverError::Refused(format!("{} is damaged: {error}", path.display())))?,
        };
        let nth = asks.entry(statement.to_owned()).or_default();
        *nth += 1;
        let nth = *nth;
        let text = serde_json::to_vec(&asks).unwrap_or_default();
        // Not emptied before: counts only grow, so a kill between two system calls never leaves half a text.
        file.rewind().and_then(|()| file.write_all(&text)).map_err(|error| failed("write", &path, &error))?;
        Ok(nth)
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn create(&mut self) -> Result<()> {
        let path = self.table();
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        made.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => DriverError::Refused("the table is there already".into()),
            _ => failed("create", &path, &error),
        })?;
        self.reference = None;
        Ok(())
    }

    pub(super) fn remove(&mut self) -> Result<()> {
        let path = self.table();
        std::fs::remove_file(&path).map_err(|error| self.missing(&path, &error))?;
        self.reference = None;
        Ok(())
    }

    /// Bytes of the table.
    pub(super) fn bytes(&self) -> Result<u64> {
        let path = self.table();
        std::fs::metadata(&path).map(|data| data.len()).map_err(|error| self.missing(&path, &error))
    }

    /// Appends whole lines, durably, all or none.
    pub(super) fn append(&mut self, lines: &[u8]) -> Result<()> {
        let path = self.table();
        let mut file =
            OpenOptions::new().append(true).open(&path).map_err(|error| self.missing(&path, &error))?;
        let before = file.metadata().map_err(|error| failed("read", &path, &error))?.len();
        if let Err(error) = file.write_all(lines).and_then(|()| file.sync_all()) {
            // What was written of it must not stay; the first error is the one to be told.
            file.set_len(before).ok();
            return Err(failed("write", &path, &error));
        }
        self.reference = None;
        Ok(())
    }

    /// Why a system that knows JSON would not take this document.
    pub(super) fn unreadable(&mut self, document: &[u8]) -> Option<String> {
        let scan = self.scanner.scan(document);
        scan.traits.intersects(Traits::UNREADABLE).then(|| match scan.fault {
            Some(fault) => format!("not JSON: {fault}"),
            None => "not an object".to_owned(),
        })
    }

    /// The right answers over the table.
    pub(super) fn answers(&mut self) -> Result<Answers> {
        Ok(self.reference()?.answers())
    }

    /// Documents in the table.
    pub(super) fn documents(&mut self) -> Result<u64> {
        Ok(self.reference()?.documents())
    }

    fn reference(&mut self) -> Result<&Reference> {
        let reference = match self.reference.take() {
            Some(reference) => reference,
            None => {
                let mut reference = Reference::default();
                let mut scanner = Scanner::new();
                self.each(|line| reference.observe(&scanner.scan(line).event))?;
                reference
            }
        };
        Ok(self.reference.insert(reference))
    }

    /// The documents whose `time_us` is one of `keys`.
    pub(super) fn with_times(&self, keys: &[i64]) -> Result<Vec<String>> {
        let mut scanner = Scanner::new();
        let mut found = Vec::new();
        self.each(|line| {
            if scanner.scan(line).event.time_us.is_some_and(|time| keys.contains(&time)) {
                found.push(String::from_utf8_lossy(line).into_owned());
            }
        })?;
        Ok(found)
    }

    /// Shows every document.
    pub(super) fn each(&self, mut visit: impl FnMut(&[u8])) -> Result<()> {
        let path = self.table();
        let file = File::open(&path).map_err(|error| self.missing(&path, &error))?;
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(|error| failed("read", &path, &error))?;
            if read == 0 {
                return Ok(());
            }
            visit(line.strip_suffix(b"\n").unwrap_or(&line));
        }
    }

    fn missing(&self, path: &Path, error: &io::Error) -> DriverError {
        match error.kind() {
            io::ErrorKind::NotFound => DriverError::Refused("no such table: create it first".into()),
            _ => failed("open", path, error),
        }
    }
}

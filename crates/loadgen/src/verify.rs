//! Verifies answers row by row while a driver hands them over.

use jsonathlon_dataset::own_records::{OwnCell, OwnRecordSet};
use jsonathlon_dataset::records::{
    ContainerKind, ElementVerifier, ExpectedSubtree, RECORDS_PER_GROUP, RecordSet, SeenVersions, WriteScope,
};
use jsonathlon_driver_api::{Cell, Result, RowSink};

use crate::accept::reply_hash;
use crate::job_context::JobContext;
use crate::loaded_records::{JobScan, LoadedRecords, RecordScratch, RequiredKeys};
use crate::operation::Operation;
use crate::reactor::Reactor;
use crate::script::OperationPlan;
use crate::task::{ColumnValue, Task};

/// Kind of reply for hashes of whole documents; see [`reply_hash`].
const DOCUMENT_REPLY: u64 = 0;
/// Kind of reply for hashes of projections.
const PROJECTION_REPLY: u64 = 1;

/// Verifies the answers of one thread, with buffers that it reuses.
#[derive(Debug)]
pub(crate) struct AnswerVerifier {
    scratch: RecordScratch,
    /// Part of a generated document that read-paths asks for. `None` for own documents.
    projection: Option<ExpectedSubtree>,
    path_versions: Vec<(usize, u32)>,
}

impl AnswerVerifier {
    pub(crate) fn new(shared: &JobContext<'_>) -> Self {
        Self {
            scratch: RecordScratch::default(),
            projection: shared.records.generated().map(|set| set.subtree(&shared.paths.projected)),
            path_versions: Vec::new(),
        }
    }
}

/// Receives and verifies the rows of one statement's answer.
pub(crate) struct VerifyingSink<'a, 'j, W> {
    shared: &'a JobContext<'j>,
    plan: &'a OperationPlan,
    task: &'a mut Task,
    verifier: &'a mut AnswerVerifier,
    reactor: &'a W,
    scan: Option<JobScan<'a>>,
    elements: Option<ElementVerifier<'a>>,
    /// Index of the key column; `document` is the index of the document column.
    key_column: usize,
    document: usize,
    columns: usize,
    /// Columns kept for later statements: their index in the plan and in the rows.
    kept_columns: Vec<(usize, usize)>,
    rows: u64,
    /// Whether the statement changes documents. Its rows are ignored then; only the number of changed
    /// documents counts.
    ignores_rows: bool,
    /// Whether the operation ends with its first row, so that the time after that row is not part of it.
    is_point_read: bool,
}

impl<'a, 'j, W: Reactor> VerifyingSink<'a, 'j, W> {
    #[inline]
    pub(crate) fn new(
        shared: &'a JobContext<'j>,
        plan: &'a OperationPlan,
        task: &'a mut Task,
        verifier: &'a mut AnswerVerifier,
        reactor: &'a W,
    ) -> Self {
        let is_point_read = plan.operation == Operation::Read && plan.statements.len() == 1;
        let ignores_rows =
            plan.statements.get(task.statement_index).is_some_and(|statement| statement.writes);
        Self {
            shared,
            plan,
            task,
            verifier,
            reactor,
            scan: None,
            elements: None,
            key_column: 0,
            document: 0,
            columns: 0,
            kept_columns: Vec::new(),
            rows: 0,
            ignores_rows,
            is_point_read,
        }
    }

    /// Verifies the complete answer for missing rows, and sets the end of the operation.
    #[inline]
    pub(crate) fn finish(mut self) {
        if !(self.is_point_read && self.rows > 0) {
            self.task.end_ns = self.reactor.now().saturating_sub(self.task.checking_ns);
        }
        if !self.shared.job.verify && self.plan.operation != Operation::ReadModifyWrite {
            return;
        }
        if let Err(message) = self.check_complete() {
            self.record_wrong(message);
        }
    }

    #[inline]
    fn check_complete(&mut self) -> std::result::Result<(), String> {
        if self.ignores_rows || (self.rows == 0 && self.columns == 0) {
            return Ok(());
        }
        let (shared, operation) = (self.shared, self.plan.operation);
        let number = self.task.records[0].number;
        match operation {
            Operation::Read | Operation::ReadPaths | Operation::ReadModifyWrite if self.rows == 0 => {
                self.check_absent(number)
            }
            Operation::Find => {
                let set = self.generated()?;
                let expected = set.group_size(self.task.group, shared.job.loaded).min(self.task.limit);
                let found_count = self.task.answer.found_numbers.len() as u64;
                if found_count < expected && !self.plan.may_be_stale {
                    return Err(format!("{found_count} documents were found of {expected}"));
                }
                Ok(())
            }
            Operation::Count | Operation::UnwrapAll if self.rows != 1 => {
                Err(format!("a count has {} rows", self.rows))
            }
            Operation::Scan => {
                // No row has begun the scan; an answer without rows is verified too.
                match self.scan.take() {
                    Some(scan) => scan.finish(),
                    None => self.begin_scan(number)?.finish(),
                }
            }
            Operation::Unwrap => match self.elements.take() {
                Some(elements) => elements.finish().map(drop).map_err(|error| error.to_string()),
                None if self.generated()?.check_elements(number, ContainerKind::Array).finish().is_ok() => {
                    Ok(())
                }
                None => self.check_absent(number),
            },
            _ => Ok(()),
        }
    }

    /// Generated records, which some operations are about alone.
    fn generated(&self) -> std::result::Result<&'a RecordSet, String> {
        let set = self.shared.records.generated();
        set.ok_or_else(|| format!("{} is not known of own documents", self.plan.operation))
    }

    fn begin_scan(&mut self, number: u64) -> std::result::Result<JobScan<'a>, String> {
        let shared = self.shared;
        let required = if self.plan.may_be_stale { RequiredKeys::None } else { shared.required_keys };
        JobScan::new(shared.records, number, self.task.limit, required, &mut self.verifier.scratch)
    }

    fn check_absent(&mut self, number: u64) -> std::result::Result<(), String> {
        let read = self.task.read_token.unwrap_or_else(|| self.shared.accept.read_of_any_age(number));
        self.check_accepted(&read, None)
    }

    #[inline]
    fn check_accepted(
        &mut self,
        read: &crate::accept::ReadToken,
        seen: Option<SeenVersions>,
    ) -> std::result::Result<(), String> {
        match self.shared.accept.accepts(read, seen) {
            Ok(()) => Ok(()),
            Err(violation) if violation.is_stale() && self.plan.may_be_stale => {
                self.task.answer.is_stale = true;
                Ok(())
            }
            Err(violation) => Err(violation.to_string()),
        }
    }

    #[cold]
    fn record_wrong(&mut self, message: String) {
        let name = self.task.first_key();
        let operation = self.plan.operation;
        self.task.answer.error.get_or_insert_with(|| format!("{operation} {name}: {message}"));
    }

    #[inline]
    fn check(&mut self, cells: &[Cell<'_>]) -> std::result::Result<(), String> {
        let number = self.task.records[0].number;
        match self.plan.operation {
            Operation::Read => {
                if self.rows > 1 {
                    return Err("more than one row".to_owned());
                }
                self.document(number, text(cells, self.document)?, true).map(drop)
            }
            Operation::ReadModifyWrite => {
                if self.rows > 1 {
                    return Err("more than one row".to_owned());
                }
                let seen = self.document(number, text(cells, self.document)?, true)?;
                if let Some(version) = seen.version {
                    self.task.set_replaced_version(self.shared, version);
                }
                Ok(())
            }
            Operation::ReadPaths => {
                if self.rows > 1 {
                    return Err("more than one row".to_owned());
                }
                self.projection(number, cells)
            }
            Operation::Find => {
                let found =
                    self.shared.records.number_of(cells.get(self.key_column), &mut self.verifier.scratch)?;
                let is_in_group = self.generated()?.group(found) == self.task.group;
                if !is_in_group || self.task.answer.found_numbers.contains(&found) {
                    return Err(format!("record {found} does not belong to the answer, or is there twice"));
                }
                if self.rows > self.task.limit {
                    return Err(format!("more than {} rows", self.task.limit));
                }
                self.task.answer.found_numbers.push(found);
                self.document(found, text(cells, self.document)?, false).map(drop)
            }
            Operation::Count => {
                let expected = self.generated()?.group_size(self.task.group, self.shared.job.loaded);
                match cells {
                    [Cell::Int(count)] if u64::try_from(*count) == Ok(expected) => Ok(()),
                    // A stale count is accepted if it lies between 0 and the size of a group.
                    [Cell::Int(count)]
                        if self.plan.may_be_stale
                            && (0..=RECORDS_PER_GROUP.cast_signed()).contains(count) =>
                    {
                        self.task.answer.is_stale = true;
                        Ok(())
                    }
                    other => Err(format!("counted {other:?} instead of {expected}")),
                }
            }
            Operation::Scan => {
                let mut scan = match self.scan.take() {
                    Some(scan) => scan,
                    None => self.begin_scan(number)?,
                };
                let (records, key) = (self.shared.records, cells.get(self.key_column));
                let found = scan.check_row(records, key, &mut self.verifier.scratch);
                self.scan = Some(scan);
                let found = found?;
                self.document(found, text(cells, self.document)?, false).map(drop)
            }
            Operation::Unwrap => self.element(number, cells),
            Operation::UnwrapAll => {
                let expected = self.shared.expected_elements;
                match cells {
                    [Cell::Int(count)] if u64::try_from(*count) == Ok(expected) => Ok(()),
                    other => Err(format!("counted {other:?} elements instead of {expected}")),
                }
            }
            // Rows of write operations are not verified.
            _ => Ok(()),
        }
    }

    /// Verifies a whole document. `is_requested` tells whether it is the record that the read was begun for;
    /// any version of other records is accepted.
    #[inline]
    fn document(
        &mut self,
        number: u64,
        text: &str,
        is_requested: bool,
    ) -> std::result::Result<SeenVersions, String> {
        let (shared, accept) = (self.shared, self.shared.accept);
        let hash = reply_hash(text.as_bytes(), DOCUMENT_REPLY);
        let seen = match accept.cached_reply(number, hash) {
            Some(seen) => seen,
            None => {
                let scratch = &mut self.verifier.scratch;
                let seen = shared
                    .records
                    .check(number, text.as_bytes(), shared.write_scope, scratch)
                    .map_err(|error| error.to_string())?;
                accept.cache_reply(number, hash, seen);
                seen
            }
        };
        let read = match self.task.read_token {
            Some(read) if is_requested => read,
            _ => accept.read_of_any_age(number),
        };
        self.check_accepted(&read, Some(seen))?;
        self.task.answer.documents += 1;
        Ok(seen)
    }

    fn projection(&mut self, number: u64, cells: &[Cell<'_>]) -> std::result::Result<(), String> {
        let shared = self.shared;
        let seen = match shared.records {
            LoadedRecords::Generated(set) => self.generated_projection(set, number, cells)?,
            LoadedRecords::Own(set) => self.own_projection(set, number, cells)?,
        };
        let read = self.task.read_token.unwrap_or_else(|| shared.accept.read_of_any_age(number));
        self.check_accepted(&read, Some(seen))?;
        self.task.answer.documents += 1;
        Ok(())
    }

    fn own_projection(
        &mut self,
        set: &OwnRecordSet,
        number: u64,
        cells: &[Cell<'_>],
    ) -> std::result::Result<SeenVersions, String> {
        let shared = self.shared;
        let hash = cells.iter().fold(0, |hash: u64, cell| hash.rotate_left(7) ^ cell_hash(cell));
        if let Some(seen) = shared.accept.cached_reply(number, hash) {
            return Ok(seen);
        }
        let cells: Vec<OwnCell<'_>> = cells.iter().map(own_cell).collect();
        let scratch = &mut self.verifier.scratch.own;
        let seen = set
            .check_projection(number, &shared.paths.projected, &cells, scratch)
            .map_err(|error| format!("{}: value {} of the answer", error.fault, error.position + 1))?;
        shared.accept.cache_reply(number, hash, seen);
        Ok(seen)
    }

    fn generated_projection(
        &mut self,
        set: &RecordSet,
        number: u64,
        cells: &[Cell<'_>],
    ) -> std::result::Result<SeenVersions, String> {
        let shared = self.shared;
        Ok(match cells {
            [Cell::Text(text)] if text.starts_with('{') => {
                let hash = reply_hash(text.as_bytes(), PROJECTION_REPLY);
                if let Some(seen) = shared.accept.cached_reply(number, hash) {
                    seen
                } else {
                    let AnswerVerifier { projection: Some(projection), scratch, .. } = &mut *self.verifier
                    else {
                        return Err("no values were asked for".to_owned());
                    };
                    let scratch = &mut scratch.generated;
                    let seen = set
                        .check_subtree(projection, number, text.as_bytes(), shared.write_scope, scratch)
                        .map_err(|error| error.to_string())?;
                    shared.accept.cache_reply(number, hash, seen);
                    seen
                }
            }
            [Cell::Text(text)] if text.starts_with('[') => {
                let values: Vec<std::borrow::Cow<'_, str>> =
                    serde_json::from_str(text).map_err(|error| error.to_string())?;
                self.values(set, number, values.iter().map(|value| Ok(value.as_bytes())))?
            }
            cells => {
                self.values(set, number, (0..cells.len()).map(|column| Ok(text(cells, column)?.as_bytes())))?
            }
        })
    }

    fn values<'t>(
        &mut self,
        set: &RecordSet,
        number: u64,
        texts: impl Iterator<Item = std::result::Result<&'t [u8], String>>,
    ) -> std::result::Result<SeenVersions, String> {
        let shared = self.shared;
        self.verifier.path_versions.clear();
        let mut paths = shared.paths.projected.iter();
        for text in texts {
            let path = *paths.next().ok_or_else(|| "more values than were asked for".to_owned())?;
            let version = set
                .check_value(number, path, text?, &mut self.verifier.scratch.generated)
                .map_err(|error| error.to_string())?;
            self.verifier.path_versions.push((path, version));
        }
        if paths.next().is_some() {
            return Err("fewer values than were asked for".to_owned());
        }
        seen_in(&self.verifier.path_versions, shared.write_scope)
    }

    fn element(&mut self, number: u64, cells: &[Cell<'_>]) -> std::result::Result<(), String> {
        let (shared, set) = (self.shared, self.generated()?);
        let text = text(cells, cells.len().saturating_sub(1))?;
        let elements = self.elements.get_or_insert_with(|| set.check_elements(number, ContainerKind::Array));
        let scratch = &mut self.verifier.scratch.generated;
        let seen = if text.starts_with('{') {
            let outcome = elements.check_element(text.as_bytes(), shared.write_scope, scratch);
            outcome.map_err(|error| error.to_string())?.1
        } else {
            let outcome =
                elements.check_value(text.as_bytes(), scratch).map_err(|error| error.to_string())?;
            seen_in(&[outcome], shared.write_scope)?
        };
        let read = self.task.read_token.unwrap_or_else(|| shared.accept.read_of_any_age(number));
        self.task.answer.documents = 1;
        self.check_accepted(&read, Some(seen))
    }
}

/// Combines the versions of a document's values: that of the value which the mix writes, and that of all
/// others.
fn seen_in(values: &[(usize, u32)], write_scope: WriteScope) -> std::result::Result<SeenVersions, String> {
    let mut seen = SeenVersions::default();
    for (path, version) in values {
        let is_written = match write_scope {
            WriteScope::Nothing => false,
            WriteScope::Path(written_path) => *path == written_path,
            WriteScope::All => true,
        };
        let entry = if is_written { &mut seen.version } else { &mut seen.base };
        if entry.is_some_and(|entry| entry != *version) {
            return Err("values of different versions".to_owned());
        }
        *entry = Some(*version);
    }
    Ok(seen)
}

/// Converts a cell for comparison with a value of an own document.
fn own_cell<'c>(cell: &Cell<'c>) -> OwnCell<'c> {
    match *cell {
        Cell::Null => OwnCell::Null,
        Cell::Bool(truth) => OwnCell::Bool(truth),
        Cell::Int(number) => OwnCell::Int(number),
        Cell::Float(number) => OwnCell::Float(number),
        Cell::Text(text) => OwnCell::Text(text),
    }
}

/// Hash of a cell of a projection; see [`reply_hash`].
fn cell_hash(cell: &Cell<'_>) -> u64 {
    match cell {
        Cell::Null => reply_hash(&[], PROJECTION_REPLY + 1),
        Cell::Bool(truth) => reply_hash(&[u8::from(*truth)], PROJECTION_REPLY + 2),
        Cell::Int(number) => reply_hash(&number.to_le_bytes(), PROJECTION_REPLY + 3),
        Cell::Float(number) => reply_hash(&number.to_le_bytes(), PROJECTION_REPLY + 4),
        Cell::Text(text) => reply_hash(text.as_bytes(), PROJECTION_REPLY),
    }
}

fn text<'c>(cells: &'c [Cell<'_>], column: usize) -> std::result::Result<&'c str, String> {
    match cells.get(column) {
        Some(Cell::Text(text)) => Ok(text),
        other => Err(format!("{} where a text is due", kind(other))),
    }
}

fn kind(cell: Option<&Cell<'_>>) -> &'static str {
    match cell {
        None => "no column",
        Some(Cell::Null) => "NULL",
        Some(Cell::Text(_)) => "a text",
        Some(_) => "a number or truth value",
    }
}

impl<W: Reactor> RowSink for VerifyingSink<'_, '_, W> {
    #[inline]
    fn columns(&mut self, names: &[&str]) -> Result<()> {
        self.columns = names.len();
        // A text with several statements is answered by its last one.
        self.rows = 0;
        if names.len() > 1 {
            let column_index =
                |expected: &str| names.iter().position(|name| name.eq_ignore_ascii_case(expected));
            self.key_column = column_index("key").unwrap_or(0);
            self.document = column_index("doc").unwrap_or(names.len() - 1);
        }
        for (index, expected) in self.plan.columns.iter().enumerate() {
            if let Some(column) = names.iter().position(|name| name == expected) {
                self.kept_columns.push((index, column));
            }
        }
        Ok(())
    }

    #[inline]
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        if self.ignores_rows {
            return Ok(());
        }
        let now = self.reactor.now();
        self.rows += 1;
        self.task.answer.rows += 1;
        self.task.end_ns = now.saturating_sub(self.task.checking_ns);
        if !self.plan.columns.is_empty() {
            self.keep(cells);
        }
        let is_checked = self.shared.job.verify || self.plan.operation == Operation::ReadModifyWrite;
        if is_checked {
            if let Err(message) = self.check(cells) {
                self.record_wrong(message);
            }
        } else {
            self.task.answer.documents += 1;
        }
        if !self.is_point_read {
            self.task.checking_ns += self.reactor.now().saturating_sub(now);
        }
        Ok(())
    }
}

impl<W> VerifyingSink<'_, '_, W> {
    /// Keeps the columns of the first row that a later statement uses.
    fn keep(&mut self, cells: &[Cell<'_>]) {
        if self.rows > 1 {
            return;
        }
        self.task.columns.resize(self.plan.columns.len(), ColumnValue::Null);
        for (index, column) in &self.kept_columns {
            if let (Some(target), Some(cell)) = (self.task.columns.get_mut(*index), cells.get(*column)) {
                *target = ColumnValue::copy_of(cell);
            }
        }
    }
}

//! Current operation of a client with all values that its statements need. Buffers are reused for the next
//! operation.

use jsonathlon_dataset::own_records::OwnRecordSet;
use jsonathlon_dataset::records::{KeyType, RecordSet};
use jsonathlon_driver_api::{Cell, Parameter};

use crate::accept::{ReadToken, WriteKind, WriteToken};
use crate::job_context::JobContext;
use crate::loaded_records::{LoadedRecords, RecordScratch};
use crate::operation::Operation;
use crate::random::Random;
use crate::recorder::OperationOutcome;
use crate::script::{OperationPlan, ParameterSource};

/// Owned copy of a cell, for a later statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ColumnValue {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl ColumnValue {
    pub(crate) fn copy_of(cell: &Cell<'_>) -> Self {
        match *cell {
            Cell::Null => Self::Null,
            Cell::Bool(truth) => Self::Bool(truth),
            Cell::Int(number) => Self::Int(number),
            Cell::Float(number) => Self::Float(number),
            Cell::Text(text) => Self::Text(text.to_owned()),
        }
    }

    fn parameter(&self) -> Parameter<'_> {
        match self {
            Self::Null => Parameter::Null,
            Self::Bool(truth) => Parameter::Bool(*truth),
            Self::Int(number) => Parameter::Int(*number),
            Self::Float(number) => Parameter::Float(*number),
            Self::Text(text) => Parameter::Text(text),
        }
    }
}

/// Record of an operation, with buffers for the values that are sent.
#[derive(Debug, Default)]
pub(crate) struct TaskRecord {
    pub(crate) number: u64,
    /// Write to the record, until its outcome is known. `None` for reads.
    pub(crate) write: Option<WriteToken>,
    /// Key if keys are texts; otherwise empty, and `integer_key` holds the key.
    key: String,
    integer_key: i64,
    /// Value that the operation sets, as text.
    value: String,
    /// The same value if such values are integers.
    integer_value: i64,
    document: String,
    /// The document with its key as a member.
    keyed_document: String,
}

/// Current operation of one client and its progress.
#[derive(Debug, Default)]
pub(crate) struct Task {
    /// Index of the operation in the mix.
    pub(crate) plan_index: usize,
    /// Records of the operation: one, or those of a batch. Only the first `record_count` belong to it; the
    /// others are spare buffers.
    pub(crate) records: Vec<TaskRecord>,
    pub(crate) record_count: usize,
    pub(crate) read_token: Option<ReadToken>,
    /// Largest number of documents that the operation asks for.
    pub(crate) limit: u64,
    /// Group of records that find and count search for.
    pub(crate) group: u64,
    condition: String,
    /// JSON array of the keyed documents of all records.
    keyed_documents: String,
    /// Value that the operation replaces, as text.
    old_value: String,
    /// The same value if such values are integers.
    old_integer: i64,
    scratch: RecordScratch,
    /// Version that the preceding statement has read and that the new value replaces.
    pub(crate) replaced_version: Option<u32>,
    /// Columns kept from earlier statements, by their index in the plan.
    pub(crate) columns: Vec<ColumnValue>,

    /// Index of the current statement in the plan.
    pub(crate) statement_index: usize,
    /// Index of the document that the current statement is sent for; 0 outside of batches.
    pub(crate) document_index: usize,
    /// Whether a statement that changes documents was sent.
    pub(crate) has_written: bool,
    /// Number of changed documents so far. `None` if the system does not report it.
    pub(crate) changed_documents: Option<u64>,
    /// Number of retries after conflicts.
    pub(crate) retries: u32,
    pub(crate) answer: AnswerProgress,
    /// Next step once the undo statement has been answered. `None` unless one was sent.
    pub(crate) after_undo: Option<AfterUndo>,

    /// Intended start of an open-loop operation. This and the following times are nanoseconds since the job
    /// began.
    pub(crate) intended_start_ns: Option<u64>,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// Time at which the client became free for its next operation.
    pub(crate) idle_since_ns: u64,
    /// Whether the operation is one of a fixed number that is measured.
    pub(crate) is_counted: bool,
    /// Nanoseconds spent verifying answers, which are not part of the operation's time.
    pub(crate) checking_ns: u64,
}

/// Next step after an undo statement has been answered.
#[derive(Debug)]
pub(crate) enum AfterUndo {
    /// Retry the operation, which failed by a conflict; holds the message of the conflict.
    Retry(String),
    /// End the operation with this outcome.
    End(OperationOutcome),
}

/// What the answers of an operation have held so far, and the result of verifying them.
#[derive(Debug, Default)]
pub(crate) struct AnswerProgress {
    pub(crate) rows: u64,
    pub(crate) documents: u64,
    pub(crate) is_stale: bool,
    pub(crate) error: Option<String>,
    /// Numbers of the records found so far; none may occur twice.
    pub(crate) found_numbers: Vec<u64>,
}

impl AnswerProgress {
    fn clear(&mut self) {
        self.rows = 0;
        self.documents = 0;
        self.is_stale = false;
        self.error = None;
        self.found_numbers.clear();
    }
}

/// Replaces the contents of a string and reuses its memory.
#[inline]
fn fill(text: &mut String, write: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::mem::take(text).into_bytes();
    bytes.clear();
    write(&mut bytes);
    // Keys, values and documents are always UTF-8.
    *text = String::from_utf8(bytes).unwrap_or_default();
}

impl Task {
    /// Draws the next operation and prepares everything that it sends. Returns `false` if record numbers or
    /// versions have run out.
    pub(crate) fn prepare(&mut self, shared: &JobContext<'_>, random: &mut Random) -> bool {
        let operation = shared.operation_chooser.draw(random);
        self.plan_index = shared.plan_index(operation);
        let Some(plan) = shared.plans.get(self.plan_index) else { return false };
        self.reset();
        self.retries = 0;
        self.start_ns = 0;
        self.intended_start_ns = None;
        self.is_counted = false;
        self.record_count = 1;
        if self.records.is_empty() {
            self.records.push(TaskRecord::default());
        }
        match operation {
            Operation::Insert | Operation::InsertBatch => {
                self.record_count =
                    if operation == Operation::Insert { 1 } else { shared.job.batch.max(1) as usize };
                self.read_token = None;
            }
            Operation::Find | Operation::Count => {
                let number = random.below(shared.job.loaded);
                self.records[0].number = number;
                self.read_token = None;
                self.limit = u64::from(shared.job.limit.max(1));
                // Own documents have no groups, and jobs on them have neither find nor count.
                let Some(set) = shared.records.generated() else { return false };
                self.group = set.group(number);
                let path = shared.paths.condition;
                fill(&mut self.condition, |out| set.value(number, path, 0, out));
            }
            Operation::UnwrapAll => {
                // Unwrap-all concerns all records; the number is a placeholder.
                self.records[0].number = 0;
                self.read_token = None;
            }
            other => {
                let drawn = shared.key_chooser.draw(shared.accept.records(), random);
                let number = shared.records.choose(drawn, other);
                self.records[0].number = number;
                self.read_token = Some(shared.accept.begin_read(number));
                self.limit = match other {
                    Operation::Scan => 1 + random.below(u64::from(shared.job.scan.max(1))),
                    _ => u64::from(shared.job.limit.max(1)),
                };
            }
        }
        while self.records.len() < self.record_count {
            self.records.push(TaskRecord::default());
        }
        self.prepare_try(plan, shared)
    }

    /// Issues the versions of the operation's writes and generates the values to be sent. Called once per
    /// try. Returns `false` if record numbers or versions have run out, or a document cannot be read.
    fn prepare_try(&mut self, plan: &OperationPlan, shared: &JobContext<'_>) -> bool {
        for record in &mut self.records[..self.record_count] {
            record.write = match plan.operation {
                Operation::Insert | Operation::InsertBatch => shared.begin_insert(),
                Operation::UpdateAll => {
                    begin_distinct_write(record.number, WriteKind::Whole, shared, &mut self.scratch)
                }
                Operation::Delete => shared.begin_write(record.number, WriteKind::Delete),
                operation if operation.writes() => {
                    begin_distinct_write(record.number, WriteKind::Part, shared, &mut self.scratch)
                }
                _ => None,
            };
            if plan.operation.writes() {
                let Some(write) = &record.write else { return false };
                record.number = write.number();
            }
            if let Err(error) = record.generate(plan, shared, &mut self.scratch) {
                let message = format!("the files of the documents cannot be read: {error}");
                shared.file_error.get_or_init(|| message);
                return false;
            }
        }
        if plan.needs(ParameterSource::KeyedDocuments) {
            self.keyed_documents.clear();
            for record in &self.records[..self.record_count] {
                self.keyed_documents.push(if self.keyed_documents.is_empty() { '[' } else { ',' });
                self.keyed_documents.push_str(&record.keyed_document);
            }
            self.keyed_documents.push(']');
        }
        true
    }

    fn reset(&mut self) {
        self.statement_index = 0;
        self.document_index = 0;
        self.has_written = false;
        self.changed_documents = None;
        self.replaced_version = None;
        self.checking_ns = 0;
        self.answer.clear();
        self.columns.clear();
    }

    /// Prepares a retry after a conflict. The operation's time continues. Returns `false` as
    /// [`Self::prepare_try`] does.
    pub(crate) fn restart_after_conflict(&mut self, shared: &JobContext<'_>) -> bool {
        let Some(plan) = shared.plans.get(self.plan_index) else { return false };
        let checking_ns = self.checking_ns;
        self.reset();
        self.checking_ns = checking_ns;
        self.retries += 1;
        if self.read_token.is_some() {
            self.read_token = Some(shared.accept.begin_read(self.records[0].number));
        }
        self.prepare_try(plan, shared)
    }

    /// Records the version that the operation has read and will replace, and generates the old value if a
    /// statement needs it.
    pub(crate) fn set_replaced_version(&mut self, shared: &JobContext<'_>, version: u32) {
        self.replaced_version = Some(version);
        if shared.plans.get(self.plan_index).is_some_and(|plan| plan.needs(ParameterSource::Old)) {
            let number = self.records[0].number;
            match shared.records {
                LoadedRecords::Generated(set) => {
                    fill(&mut self.old_value, |out| set.value(number, shared.paths.field, version, out));
                }
                LoadedRecords::Own(set) => {
                    let scratch = &mut self.scratch.own;
                    fill(&mut self.old_value, |out| {
                        if version > 0 {
                            set.value(number, version, out);
                        } else if let Err(error) = set.loaded_value(number, scratch, out) {
                            // Without an old value the write is a conflict. The next write ends the job.
                            shared.file_error.get_or_init(|| error.to_string());
                        }
                    });
                    self.old_integer = self.old_value.parse().unwrap_or_default();
                }
            }
        }
    }

    /// Returns the value of one parameter of the current statement.
    #[inline]
    pub(crate) fn parameter<'a>(
        &'a self,
        (source, document_index): (ParameterSource, Option<usize>),
        shared: &JobContext<'_>,
    ) -> Parameter<'a> {
        let Some(record) = self.records.get(document_index.unwrap_or(self.document_index)) else {
            return Parameter::Null;
        };
        match source {
            ParameterSource::Key => match shared.records.key_type() {
                KeyType::Text => Parameter::Text(&record.key),
                KeyType::Bigint => Parameter::Int(record.integer_key),
            },
            ParameterSource::Value if shared.records.has_integer_values() => {
                Parameter::Int(record.integer_value)
            }
            ParameterSource::Value => Parameter::Text(&record.value),
            ParameterSource::Document => Parameter::Json(&record.document),
            ParameterSource::KeyedDocument => Parameter::Json(&record.keyed_document),
            ParameterSource::KeyedDocuments => Parameter::Json(&self.keyed_documents),
            ParameterSource::Limit => Parameter::Int(i64::try_from(self.limit).unwrap_or(i64::MAX)),
            ParameterSource::Old if shared.records.has_integer_values() => Parameter::Int(self.old_integer),
            ParameterSource::Old => Parameter::Text(&self.old_value),
            ParameterSource::Condition => Parameter::Text(&self.condition),
            ParameterSource::Column(index) => {
                self.columns.get(index).map_or(Parameter::Null, ColumnValue::parameter)
            }
        }
    }

    /// Key of the first record, for messages.
    pub(crate) fn first_key(&self) -> String {
        let record = &self.records[0];
        if record.key.is_empty() { record.integer_key.to_string() } else { record.key.clone() }
    }
}

/// Issues the version of a write to an existing record. A version whose value equals the loaded one is
/// aborted and replaced by the next, because reads could not tell the two apart.
#[inline]
fn begin_distinct_write(
    number: u64,
    change: WriteKind,
    shared: &JobContext<'_>,
    scratch: &mut RecordScratch,
) -> Option<WriteToken> {
    loop {
        let write = shared.begin_write(number, change)?;
        if !shared.records.is_like_loaded(number, write.version(), scratch) {
            return Some(write);
        }
        shared.accept.abort(write);
    }
}

impl TaskRecord {
    /// Generates the record's key and, if the operation writes, what the plan's statements send.
    #[inline]
    fn generate(
        &mut self,
        plan: &OperationPlan,
        shared: &JobContext<'_>,
        scratch: &mut RecordScratch,
    ) -> std::io::Result<()> {
        let (records, number) = (shared.records, self.number);
        match records.key_type() {
            KeyType::Text => {
                let mut outcome = Ok(());
                fill(&mut self.key, |out| outcome = records.write_key(number, out));
                outcome?;
            }
            KeyType::Bigint => {
                self.key.clear();
                self.integer_key = records.integer_key(number);
            }
        }
        let Some(write) = &self.write else { return Ok(()) };
        let version = write.version();
        match records {
            LoadedRecords::Generated(set) => self.generate_values(plan, shared, set, version),
            LoadedRecords::Own(set) => self.generate_own_values(plan, set, version, scratch)?,
        }
        Ok(())
    }

    #[inline]
    fn generate_values(
        &mut self,
        plan: &OperationPlan,
        shared: &JobContext<'_>,
        set: &RecordSet,
        version: u32,
    ) {
        let number = self.number;
        if plan.needs(ParameterSource::Value)
            && let Some(path) = shared.paths.path_set_by(plan.operation)
        {
            fill(&mut self.value, |out| set.value(number, path, version, out));
        }
        if plan.needs(ParameterSource::Document) {
            fill(&mut self.document, |out| set.document(number, version, out));
        }
        if plan.needs(ParameterSource::KeyedDocument) || plan.needs(ParameterSource::KeyedDocuments) {
            fill(&mut self.keyed_document, |out| set.keyed_document(&plan.key_member, number, version, out));
        }
    }

    fn generate_own_values(
        &mut self,
        plan: &OperationPlan,
        set: &OwnRecordSet,
        version: u32,
        scratch: &mut RecordScratch,
    ) -> std::io::Result<()> {
        let number = self.number;
        if plan.needs(ParameterSource::Value) {
            fill(&mut self.value, |out| set.value(number, version, out));
            self.integer_value = i64::from(version);
        }
        let mut outcome = Ok(());
        if plan.needs(ParameterSource::Document) {
            fill(&mut self.document, |out| {
                // A system that keeps the key in the document may receive it there in any case.
                let member = set.records().key_member.as_deref();
                outcome = set.document(number, version, member, &mut scratch.own, out);
            });
        }
        outcome?;
        let mut outcome = Ok(());
        if plan.needs(ParameterSource::KeyedDocument) || plan.needs(ParameterSource::KeyedDocuments) {
            fill(&mut self.keyed_document, |out| {
                let member = Some(plan.key_member.as_str());
                outcome = set.document(number, version, member, &mut scratch.own, out);
            });
        }
        outcome
    }
}

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
    pub(crate) write: Option<WriteToken>,
    key: String,
    integer: i64,
    value: String,
    /// Value that is set if it is an integer.
    integer_value: i64,
    document: String,
    keyed: String,
}

/// Current operation of one client and its progress.
#[derive(Debug, Default)]
pub(crate) struct Task {
    /// Index of the operation in the mix.
    pub(crate) plan_index: usize,
    /// Records of the operation. The first `used` are in use: one, or those of a batch. The others are spare
    /// buffers.
    pub(crate) items: Vec<TaskRecord>,
    pub(crate) used: usize,
    pub(crate) read_token: Option<ReadToken>,
    /// Largest number of documents that the operation asks for.
    pub(crate) limit: u64,
    /// Group of records that find and count search for.
    pub(crate) group: u64,
    condition: String,
    all_keyed: String,
    old: String,
    integer_old: i64,
    scratch: RecordScratch,
    /// Version that the preceding statement has read and that the new value replaces.
    pub(crate) replaced_version: Option<u32>,
    /// Columns kept from earlier statements, by their index in the plan.
    pub(crate) columns: Vec<ColumnValue>,

    /// Index of the current statement; `turn` is the document of the batch that it is sent for.
    pub(crate) step: usize,
    pub(crate) turn: usize,
    /// Whether a statement that changes documents was sent.
    pub(crate) has_written: bool,
    /// Number of changed documents so far. `None` if the system does not report it.
    pub(crate) changed_documents: Option<u64>,
    pub(crate) tries: u32,
    pub(crate) answer: CheckProgress,
    /// Next step after the running undo statement.
    pub(crate) after_rollback: Option<AfterRollback>,

    /// Intended start of an open-loop operation. This and the following times are nanoseconds since the job
    /// began.
    pub(crate) intended: Option<u64>,
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    pub(crate) free_since: u64,
    pub(crate) counted: bool,
    /// Nanoseconds spent verifying answers, which are not part of the operation's time.
    pub(crate) checking_ns: u64,
}

/// Next step after an undo statement has been answered.
#[derive(Debug)]
pub(crate) enum AfterRollback {
    /// Retry the operation after this conflict.
    Conflict(String),
    /// End the operation with this outcome.
    Ends(OperationOutcome),
}

/// Results of verifying the answers of an operation so far.
#[derive(Debug, Default)]
pub(crate) struct CheckProgress {
    pub(crate) rows: u64,
    pub(crate) documents: u64,
    pub(crate) stale: bool,
    pub(crate) error: Option<String>,
    /// Numbers of the records found so far; none may occur twice.
    pub(crate) found_numbers: Vec<u64>,
}

impl CheckProgress {
    fn clear(&mut self) {
        self.rows = 0;
        self.documents = 0;
        self.stale = false;
        self.error = None;
        self.found_numbers.clear();
    }
}

/// Fills a string anew and reuses its memory.
#[inline]
fn fill(text: &mut String, write: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::mem::take(text).into_bytes();
    bytes.clear();
    write(&mut bytes);
    // All that is sent is UTF-8.
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
        self.tries = 0;
        self.begun = 0;
        self.intended = None;
        self.counted = false;
        self.used = 1;
        if self.items.is_empty() {
            self.items.push(TaskRecord::default());
        }
        match operation {
            Operation::Insert | Operation::InsertBatch => {
                self.used = if operation == Operation::Insert { 1 } else { shared.job.batch.max(1) as usize };
                self.read_token = None;
            }
            Operation::Find | Operation::Count => {
                let number = random.below(shared.job.loaded);
                self.items[0].number = number;
                self.read_token = None;
                self.limit = u64::from(shared.job.limit.max(1));
                // Own documents have no groups; their jobs have no such operation.
                let Some(set) = shared.records.generated() else { return false };
                self.group = set.group(number);
                let path = shared.paths.condition;
                fill(&mut self.condition, |out| set.value(number, path, 0, out));
            }
            Operation::UnwrapAll => {
                // Unwrap-all concerns all records; the number is a placeholder.
                self.items[0].number = 0;
                self.read_token = None;
            }
            other => {
                let drawn = shared.key_chooser.draw(shared.accept.records(), random);
                let number = shared.records.choose(drawn, other);
                self.items[0].number = number;
                self.read_token = Some(shared.accept.begin_read(number));
                self.limit = match other {
                    Operation::Scan => 1 + random.below(u64::from(shared.job.scan.max(1))),
                    _ => u64::from(shared.job.limit.max(1)),
                };
            }
        }
        while self.items.len() < self.used {
            self.items.push(TaskRecord::default());
        }
        self.issue(plan, shared)
    }

    /// Issues the versions of the operation's writes and generates the values to be sent. Called once per
    /// try. Returns `false` if record numbers or versions have run out, or a document cannot be read.
    fn issue(&mut self, plan: &OperationPlan, shared: &JobContext<'_>) -> bool {
        for item in &mut self.items[..self.used] {
            item.write = match plan.operation {
                Operation::Insert | Operation::InsertBatch => shared.begin_insert(),
                Operation::UpdateAll => {
                    begin_distinct(item.number, WriteKind::Whole, shared, &mut self.scratch)
                }
                Operation::Delete => shared.begin_write(item.number, WriteKind::Delete),
                operation if operation.writes() => {
                    begin_distinct(item.number, WriteKind::Part, shared, &mut self.scratch)
                }
                _ => None,
            };
            if plan.operation.writes() {
                let Some(write) = &item.write else { return false };
                item.number = write.number();
            }
            if let Err(error) = item.generate(plan, shared, &mut self.scratch) {
                let message = format!("the files of the documents cannot be read: {error}");
                shared.file_error.get_or_init(|| message);
                return false;
            }
        }
        if plan.needs(ParameterSource::KeyedDocuments) {
            self.all_keyed.clear();
            for item in &self.items[..self.used] {
                self.all_keyed.push(if self.all_keyed.is_empty() { '[' } else { ',' });
                self.all_keyed.push_str(&item.keyed);
            }
            self.all_keyed.push(']');
        }
        true
    }

    fn reset(&mut self) {
        self.step = 0;
        self.turn = 0;
        self.has_written = false;
        self.changed_documents = None;
        self.replaced_version = None;
        self.checking_ns = 0;
        self.answer.clear();
        self.columns.clear();
    }

    /// Prepares a retry after a conflict. The operation's time continues. Returns `false` as [`Self::issue`]
    /// does.
    pub(crate) fn restart_after_conflict(&mut self, shared: &JobContext<'_>) -> bool {
        let Some(plan) = shared.plans.get(self.plan_index) else { return false };
        let checking_ns = self.checking_ns;
        self.reset();
        self.checking_ns = checking_ns;
        self.tries += 1;
        if self.read_token.is_some() {
            self.read_token = Some(shared.accept.begin_read(self.items[0].number));
        }
        self.issue(plan, shared)
    }

    /// Records the version that the operation has read and will replace, and generates the old value if a
    /// statement needs it.
    pub(crate) fn replace(&mut self, shared: &JobContext<'_>, version: u32) {
        self.replaced_version = Some(version);
        if shared.plans.get(self.plan_index).is_some_and(|plan| plan.needs(ParameterSource::Old)) {
            let number = self.items[0].number;
            match shared.records {
                LoadedRecords::Generated(set) => {
                    fill(&mut self.old, |out| set.value(number, shared.paths.field, version, out));
                }
                LoadedRecords::Own(set) => {
                    let scratch = &mut self.scratch.own;
                    fill(&mut self.old, |out| {
                        if version > 0 {
                            set.value(number, version, out);
                        } else if let Err(error) = set.loaded_value(number, scratch, out) {
                            // An old value that is not there is a conflict, and the next write ends the job.
                            shared.file_error.get_or_init(|| error.to_string());
                        }
                    });
                    self.integer_old = self.old.parse().unwrap_or_default();
                }
            }
        }
    }

    /// Returns the value of one parameter of the current statement.
    #[inline]
    pub(crate) fn parameter<'a>(
        &'a self,
        (filler, document_index): (ParameterSource, Option<usize>),
        shared: &JobContext<'_>,
    ) -> Parameter<'a> {
        let Some(item) = self.items.get(document_index.unwrap_or(self.turn)) else { return Parameter::Null };
        match filler {
            ParameterSource::Key => match shared.records.key_type() {
                KeyType::Text => Parameter::Text(&item.key),
                KeyType::Bigint => Parameter::Int(item.integer),
            },
            ParameterSource::Value if shared.records.has_integer_values() => {
                Parameter::Int(item.integer_value)
            }
            ParameterSource::Value => Parameter::Text(&item.value),
            ParameterSource::Document => Parameter::Json(&item.document),
            ParameterSource::KeyedDocument => Parameter::Json(&item.keyed),
            ParameterSource::KeyedDocuments => Parameter::Json(&self.all_keyed),
            ParameterSource::Limit => Parameter::Int(i64::try_from(self.limit).unwrap_or(i64::MAX)),
            ParameterSource::Old if shared.records.has_integer_values() => Parameter::Int(self.integer_old),
            ParameterSource::Old => Parameter::Text(&self.old),
            ParameterSource::Condition => Parameter::Text(&self.condition),
            ParameterSource::Column(index) => {
                self.columns.get(index).map_or(Parameter::Null, ColumnValue::parameter)
            }
        }
    }

    /// Key of the first record, for messages.
    pub(crate) fn name(&self) -> String {
        let item = &self.items[0];
        if item.key.is_empty() { item.integer.to_string() } else { item.key.clone() }
    }
}

/// Issues the version of a write to an existing record. A version that could not be told from the loaded
/// value is given up.
#[inline]
fn begin_distinct(
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
                self.integer = records.integer_key(number);
            }
        }
        let Some(write) = &self.write else { return Ok(()) };
        let version = write.version();
        match records {
            LoadedRecords::Generated(set) => self.generate_values(plan, shared, set, version),
            LoadedRecords::Own(set) => self.make_own_values(plan, set, version, scratch)?,
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
            fill(&mut self.keyed, |out| set.keyed_document(&plan.key_member, number, version, out));
        }
    }

    fn make_own_values(
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
            fill(&mut self.keyed, |out| {
                let member = Some(plan.key_member.as_str());
                outcome = set.document(number, version, member, &mut scratch.own, out);
            });
        }
        outcome
    }
}

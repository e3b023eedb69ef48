//! One writer: sends its batches one after the other, and finds out what became of a batch whose connection was
//! lost.

use std::time::Duration;

use jsonathlon_driver_api::Connection;
use jsonathlon_driver_api::batch::{BatchInserter, EncodedBatch};
use jsonathlon_driver_api::driver::DriverError;
use jsonathlon_schema::value::{Row, Value};
use jsonathlon_stats::batch_schedule::BatchSchedule;

use super::job::WritingJob;
use super::pool_text::{PoolFile, PoolLimits, PoolText};
use super::report::{BatchLog, WriterLog};
use super::state::MixedState;
use crate::turns::Turns;

/// Placeholder of the writer's number in the statement that counts its documents.
const WRITER: &str = "{{writer}}";
/// Pause before a batch is sent again.
const RETRY_DELAY: Duration = Duration::from_millis(2);
/// Time within which a lost connection must be opened again.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause between two attempts to open a lost connection, and between two looks at what became of a batch.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(100);

/// Least time after which documents of a lost connection are taken not to come any more.
const LEAST_SETTLING: Duration = Duration::from_secs(1);

/// Opens a connection of a writer or stream; makes one attempt.
pub(super) type Opener<'a> = dyn Fn() -> Result<Box<dyn Connection>, DriverError> + Sync + 'a;

/// A batch that is ready to be sent.
#[derive(Debug)]
pub(super) struct PlannedBatch {
    first: u64,
    count: u32,
    encoded: EncodedBatch,
}

/// A connection with the statements that insert a batch.
pub(super) struct WriterConnection {
    connection: Box<dyn Connection>,
    inserter: BatchInserter,
}

impl WriterConnection {
    /// Prepares the statements on a connection.
    ///
    /// # Errors
    /// The driver's error if they cannot be prepared.
    pub(super) fn prepare(
        mut connection: Box<dyn Connection>,
        job: &WritingJob,
    ) -> Result<Self, DriverError> {
        let inserter = job.form.prepare(&mut *connection)?;
        Ok(Self { connection, inserter })
    }
}

/// What became of a batch whose outcome was unknown.
#[derive(Debug, PartialEq, Eq)]
enum BatchFate {
    /// All of its documents are there.
    Present,
    /// None of its documents is there.
    Absent,
    /// Its first documents are there, up to but not including this number.
    PartlyPresent(u64),
}

impl BatchFate {
    /// Decides from the number of the writer's documents and the highest of their numbers.
    ///
    /// # Errors
    /// If documents are missing below the highest one, or others than those of the batch are there or missing.
    fn new(batch: &PlannedBatch, documents: u64, highest: Option<u64>) -> Result<Self, String> {
        let end = batch.first + u64::from(batch.count);
        if highest.map_or(0, |highest| highest + 1) != documents {
            return Err(format!(
                "of the writer's documents {documents} are there, and the highest has number {highest:?}"
            ));
        }
        match documents {
            documents if documents == end => Ok(Self::Present),
            documents if documents == batch.first => Ok(Self::Absent),
            documents if batch.first < documents && documents < end => Ok(Self::PartlyPresent(documents)),
            documents => Err(format!(
                "{documents} documents of the writer are there, although {} were acknowledged and {end} sent",
                batch.first
            )),
        }
    }
}

/// One writer with its connection and the batches that it has not sent yet.
pub(super) struct Writer<'a> {
    pub(super) number: u32,
    pub(super) job: &'a WritingJob,
    /// Due times of the batches. `None` at full speed.
    pub(super) schedule: Option<BatchSchedule>,
    pub(super) batches: Vec<PlannedBatch>,
    pub(super) connection: WriterConnection,
    /// Longest time from sending a batch to its acknowledgement so far, in nanoseconds.
    pub(super) longest_ns: u64,
    /// Lock that writers hold one after the other. `None` if they need not.
    pub(super) turns: Option<&'a Turns>,
    pub(super) state: &'a MixedState,
    pub(super) open: &'a Opener<'a>,
}

/// File of the documents of a job's writers.
pub(super) fn pool_file(job: &WritingJob) -> PoolFile<'_> {
    PoolFile { path: &job.pool, documents: job.documents, dealt: job.dealt, writers: job.writers }
}

/// Makes the requests of all batches of a writer, before the clock runs.
///
/// # Errors
/// If a document cannot be part of a request.
pub(super) fn plan_batches(
    job: &WritingJob,
    pool: &PoolText,
    writer: u32,
) -> Result<Vec<PlannedBatch>, String> {
    let documents = planned_documents(pool, writer, u64::from(job.batch))?;
    let mut batches = Vec::new();
    let mut first = 0;
    while first < documents {
        let end = documents.min(first + u64::from(job.batch));
        batches.push(encode(job, pool, writer, first, end)?);
        first = end;
    }
    Ok(batches)
}

/// Number of a writer's documents that are in memory: all of them, or whole batches.
///
/// # Errors
/// If not even one batch is.
fn planned_documents(pool: &PoolText, writer: u32, batch: u64) -> Result<u64, String> {
    let (all, kept) = (pool.documents_of(writer), pool.kept_documents_of(writer));
    match kept.checked_div(batch).unwrap_or(0) {
        _ if kept == all => Ok(all),
        0 => Err(format!(
            "a batch of {batch} documents for each writer takes too much memory: give a smaller --batch"
        )),
        batches => Ok(batches * batch),
    }
}

fn encode(
    job: &WritingJob,
    pool: &PoolText,
    writer: u32,
    first: u64,
    end: u64,
) -> Result<PlannedBatch, String> {
    let documents = pool.documents(writer, first, end);
    let count = u32::try_from(documents.len()).unwrap_or(u32::MAX);
    let encoded = job.form.encode(writer, first, &documents)?;
    Ok(PlannedBatch { first, count, encoded })
}

impl Writer<'_> {
    /// Sends batches until there are none left or the window is over. The batch in flight is always completed.
    pub(super) fn run(mut self) -> WriterLog {
        let mut log = WriterLog::default();
        let batches = std::mem::take(&mut self.batches);
        for (index, batch) in (0..).zip(&batches) {
            let due_ns = self.schedule.map(|schedule| schedule.due_ns(u64::from(self.number), index));
            if !self.state.wait_until(due_ns.unwrap_or(0)) {
                break;
            }
            if let Err(message) = self.insert(batch, due_ns, &mut log) {
                log.error = Some(message);
                break;
            }
        }
        self.state.writer_ended();
        // Everything is acknowledged, so an error in closing loses nothing.
        self.connection.connection.close().ok();
        log
    }

    /// Inserts one batch and puts it on record.
    ///
    /// # Errors
    /// Why the writer cannot go on. The record of the batch then has no acknowledgement.
    fn insert(
        &mut self,
        batch: &PlannedBatch,
        due_ns: Option<u64>,
        log: &mut WriterLog,
    ) -> Result<(), String> {
        let mut entry = BatchLog {
            first: batch.first,
            count: batch.count,
            sent_count: batch.count,
            due_ns,
            sent_ns: self.state.now(),
            acknowledged_ns: None,
            retries: 0,
            was_recovered: false,
        };
        let outcome = self.send(batch, &mut entry);
        if outcome.is_ok() {
            let acknowledged_ns = self.state.now();
            self.longest_ns = self.longest_ns.max(acknowledged_ns.saturating_sub(entry.sent_ns));
            entry.acknowledged_ns = Some(acknowledged_ns);
            self.state.add_done(u64::from(entry.count));
        }
        log.batches.push(entry);
        match outcome? {
            Some(end) => {
                let rest = self.encode_rest(end, batch)?;
                self.insert(&rest, due_ns, log)
            }
            None => Ok(()),
        }
    }

    /// Sends a batch until all of it is there, or a part that the system keeps apart from the rest; then returns
    /// the number of the first document that is missing, and reduces the entry to that part.
    fn send(&mut self, batch: &PlannedBatch, entry: &mut BatchLog) -> Result<Option<u64>, String> {
        loop {
            let result = {
                let _turn = self.turns.map(Turns::take);
                let WriterConnection { connection, inserter } = &mut self.connection;
                inserter.insert(&mut **connection, &batch.encoded)
            };
            match result {
                Ok(()) => return Ok(None),
                Err(DriverError::Conflict(message)) => {
                    self.allow_retry(entry, "was sent back", &message)?;
                }
                Err(DriverError::Crashed(message) | DriverError::Unavailable(message)) => {
                    match self.fate_of(batch, &message)? {
                        BatchFate::Present => {
                            entry.was_recovered = true;
                            return Ok(None);
                        }
                        BatchFate::Absent => self.allow_retry(entry, "broke its connection", &message)?,
                        BatchFate::PartlyPresent(end) => {
                            entry.was_recovered = true;
                            entry.count = u32::try_from(end - batch.first).unwrap_or(u32::MAX);
                            return Ok(Some(end));
                        }
                    }
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// Counts one more attempt to send a batch, and pauses before it.
    ///
    /// # Errors
    /// If the time of the batch is over, counted from when it was sent first.
    fn allow_retry(&self, entry: &mut BatchLog, what: &str, message: &str) -> Result<(), String> {
        let limit_s = self.job.timeout_s;
        if self.state.now().saturating_sub(entry.sent_ns) > (limit_s * 1e9) as u64 {
            return Err(format!("a batch {what} for {limit_s} s: {message}"));
        }
        entry.retries += 1;
        std::thread::sleep(RETRY_DELAY);
        Ok(())
    }

    /// Opens the connection again and asks what became of a batch. A server may still be committing what a lost
    /// connection has sent: unless all of the batch is there, it is asked for as long as the slowest batch has
    /// taken so far, and until two answers agree.
    fn fate_of(&mut self, batch: &PlannedBatch, message: &str) -> Result<BatchFate, String> {
        let settling = LEAST_SETTLING.max(Duration::from_nanos(self.longest_ns));
        let mut waited = Duration::ZERO;
        let mut previous = None;
        loop {
            match self.reconnect_and_count() {
                Ok(None) => return Ok(BatchFate::Absent),
                Ok(Some(counted)) => {
                    let is_settled = previous == Some(counted) && waited >= settling;
                    previous = Some(counted);
                    match BatchFate::new(batch, counted.0, counted.1) {
                        Ok(BatchFate::Present) => return Ok(BatchFate::Present),
                        fate if is_settled => {
                            return fate
                                .map_err(|error| format!("{message}; after connecting again: {error}"));
                        }
                        _ => {}
                    }
                }
                Err(error) if waited >= RECONNECT_TIMEOUT => {
                    return Err(format!("{message}; it cannot be reached again: {error}"));
                }
                Err(_) => {}
            }
            waited += RECONNECT_INTERVAL;
            std::thread::sleep(RECONNECT_INTERVAL);
        }
    }

    /// Opens the connection again. Returns how many documents of this writer are there, and the highest of their
    /// numbers; `None` if a batch may simply be sent again.
    fn reconnect_and_count(&mut self) -> Result<Option<(u64, Option<u64>)>, DriverError> {
        self.connection = WriterConnection::prepare((self.open)()?, self.job)?;
        if self.job.form.is_idempotent {
            return Ok(None);
        }
        let statement = self.job.own_prefix.replace(WRITER, &self.number.to_string());
        let answer = self.connection.connection.collect(&statement)?;
        match answer.rows.first().map(Row::as_slice) {
            Some([Value::Int(documents), highest]) => {
                let highest = match highest {
                    Value::Int(highest) => Some(highest.unsigned_abs()),
                    _ => None,
                };
                Ok(Some((documents.unsigned_abs(), highest)))
            }
            // Some systems return no row about nothing.
            None => Ok(Some((0, None))),
            other => {
                let message = format!("a count of a writer's documents is two numbers, not {other:?}");
                Err(DriverError::Protocol(message))
            }
        }
    }

    fn encode_rest(&self, first: u64, batch: &PlannedBatch) -> Result<PlannedBatch, String> {
        // So rare that the pool is read again instead of being kept beside the requests.
        let pool = PoolText::read(pool_file(self.job), PoolLimits::default())?;
        encode(self.job, &pool, self.number, first, batch.first + u64::from(batch.count))
    }
}

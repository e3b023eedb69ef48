//! Reads documents back after a crash, in a worker that knows only the acknowledgement log.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;

use jsonathlon_dataset::records::{Records, WriteScope};
use jsonathlon_driver_api::{DriverError, NonblockingConnection, Result};
use jsonathlon_worker::protocol::{Failure, FailureKind, Progress};
use serde::{Deserialize, Serialize};

use super::LoggedWrite;
use super::audit::{CrashWindow, ObservedDocument, RecoveryAudit, audit};
use crate::job::OperationScript;
use crate::loaded_records::{LoadedRecords, RecordScratch};
use crate::operation::Operation;
use crate::paths::{Paths, Projection};
use crate::point_reader::{KeyValue, PointReader};
use crate::script::OperationPlan;

/// Number of documents between two progress messages.
const STRIDE: u64 = 256;
/// Longest error message that is kept, in characters.
const LONGEST_MESSAGE: usize = 300;

/// Largest number of unchanged loaded documents that are read: some systems read only a hundred per second.
const OTHERS: u64 = 500;

/// Request to read back every written document and some of the unchanged loaded ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecoveryRead {
    /// Description of the loaded records, from which expected values are generated.
    pub records: Records,
    /// Number of loaded records; their numbers are 0 to `loaded` − 1.
    pub loaded: u64,
    /// Path of the acknowledgement log.
    pub ack_log: PathBuf,
    /// Interval in which the system was crashed.
    pub crash_window: CrashWindow,
    /// Statements that read a document by its key.
    pub script: OperationScript,
}

fn failure(kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { kind, message: message.into() }
}

/// Reads the documents over one connection and judges them.
///
/// # Errors
/// [`FailureKind::MachineFailure`] if the log cannot be read, [`FailureKind::InvalidRequest`] if records or
/// script are invalid, or the driver's failure if the system cannot be queried any more. No judgement is
/// possible then.
pub(crate) fn read_back(
    job: &RecoveryRead,
    protocol: &str,
    open_connection: &dyn Fn() -> Result<Box<dyn NonblockingConnection>>,
    report_progress: &mut dyn FnMut(Progress),
) -> std::result::Result<RecoveryAudit, Failure> {
    let writes = File::open(&job.ack_log).and_then(super::read).map_err(|error| {
        failure(FailureKind::MachineFailure, format!("failed to read {}: {error}", job.ack_log.display()))
    })?;
    let set = job
        .records
        .prepare()
        .map_err(|error| failure(FailureKind::InvalidRequest, format!("no such records: {error}")))?;
    let write_scope = WriteScope::Path(Paths::select(&set, Projection::default()).field);
    let records = LoadedRecords::Generated(set);
    let plan = OperationPlan::new(Operation::Read, &job.script, protocol, records.parameter_types(), 1)
        .map_err(|message| failure(FailureKind::InvalidRequest, message))?;
    let mut reader = Reader::new(&records, write_scope, &plan, open_connection()?)?;
    let numbers = numbers(&writes, job.loaded);
    let total = numbers.len() as u64;
    let mut observed = Vec::with_capacity(numbers.len());
    for (done, number) in (0..).zip(numbers) {
        observed.push((number, reader.observe(number)?));
        if done % STRIDE == 0 {
            report_progress(Progress { done, total: Some(total), unit: "documents".to_owned() });
        }
    }
    reader.by_key.close();
    Ok(audit(&writes, job.crash_window, job.loaded, observed))
}

/// Numbers of the documents to read: those of the writes, and up to [`OTHERS`] others spread over the whole
/// load.
fn numbers(writes: &[LoggedWrite], loaded: u64) -> BTreeSet<u64> {
    let mut numbers: BTreeSet<u64> = writes.iter().map(|write| write.number).collect();
    let others: Vec<u64> = (0..loaded).filter(|number| !numbers.contains(number)).collect();
    let stride = (others.len() as u64).div_ceil(OTHERS).max(1);
    numbers.extend(others.into_iter().step_by(usize::try_from(stride).unwrap_or(usize::MAX)));
    numbers
}

struct Reader<'a> {
    records: &'a LoadedRecords,
    by_key: PointReader<'a>,
    write_scope: WriteScope,
    scratch: RecordScratch,
}

impl<'a> Reader<'a> {
    fn new(
        records: &'a LoadedRecords,
        write_scope: WriteScope,
        plan: &'a OperationPlan,
        connection: Box<dyn NonblockingConnection>,
    ) -> Result<Self> {
        let by_key = PointReader::new(plan, connection)?;
        Ok(Self { records, by_key, write_scope, scratch: RecordScratch::default() })
    }

    fn observe(&mut self, number: u64) -> Result<ObservedDocument> {
        let key =
            KeyValue::of(self.records, number).map_err(|error| DriverError::Refused(error.to_string()))?;
        match self.by_key.text(&key) {
            Ok(None) => Ok(ObservedDocument::Absent),
            Ok(Some(text)) => {
                match self.records.check(number, text.as_bytes(), self.write_scope, &mut self.scratch) {
                    Ok(seen) => Ok(ObservedDocument::There(seen)),
                    Err(mismatch) => Ok(ObservedDocument::Torn(mismatch.to_string())),
                }
            }
            // The system is alive but cannot return this document.
            Err(DriverError::Refused(message)) => {
                let message: String = message.chars().take(LONGEST_MESSAGE).collect();
                Ok(ObservedDocument::Torn(format!("it cannot be read: {message}")))
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LogPosition;
    use super::*;

    #[test]
    fn all_that_was_sent_is_read_and_some_of_the_rest() {
        let sent = LogPosition { entry_index: 0, at_ns: 0 };
        let write = |number| LoggedWrite { number, version: 1, is_whole: false, sent, acknowledged: None };
        let writes = [write(3), write(7_000), write(3)];
        assert_eq!(numbers(&writes, 5).into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 7_000]);
        let selected = numbers(&writes, 5_000);
        assert!(selected.contains(&3) && selected.contains(&7_000), "{selected:?}");
        let other_count = selected.len() as u64 - 2;
        assert!((OTHERS / 2..=OTHERS).contains(&other_count), "{other_count}");
        assert!(selected.iter().any(|number| (4_900..5_000).contains(number)));
    }
}

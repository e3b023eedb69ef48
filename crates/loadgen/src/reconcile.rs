//! Reading back after all clients have ended: settles writes of unknown outcome and, if the system ended
//! meanwhile, checks that acknowledged writes were kept.

use std::time::{Duration, Instant};

use jsonathlon_dataset::records::SeenVersions;
use jsonathlon_driver_api::{DriverError, Result};

use crate::job_context::JobContext;
use crate::loaded_records::RecordScratch;
use crate::point_reader::{KeyValue, PointReader};
use crate::report::ReadBackCount;
use crate::script::OperationPlan;

/// Time in which the system may still process requests of connections that have ended.
const PAUSE: Duration = Duration::from_millis(300);
/// Time after which reading back stops; the remaining records stay unread.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Results of reading back the records of a job.
#[derive(Debug, Default)]
pub(crate) struct Reconciliation {
    /// Descriptions of records whose content is not acceptable.
    pub(crate) wrong_answers: Vec<String>,
    /// Number of records with an acknowledged write and how many of them were read. `None` unless
    /// `reads_all` was set.
    pub(crate) read_back: Option<ReadBackCount>,
}

/// Reads back every record with a write of unknown outcome. With `reads_all`, also reads every record with
/// an acknowledged write, which a system that has ended must have kept.
///
/// # Errors
/// If the system cannot be reached or read.
pub(crate) fn reconcile(
    shared: &JobContext<'_>,
    plan: &OperationPlan,
    reads_all: bool,
) -> Result<Reconciliation> {
    let records = shared.accept.unknown_records();
    let written_records: Vec<u64> =
        if reads_all { shared.accept.written_records().collect() } else { Vec::new() };
    let mut reconciliation = Reconciliation::default();
    if records.is_empty() && !reads_all {
        return Ok(reconciliation);
    }
    std::thread::sleep(PAUSE);
    let started = Instant::now();
    let mut reader = PointReader::new(plan, (shared.connection_factories.waiting)()?)?;
    for number in records {
        if started.elapsed() >= TIME_LIMIT {
            break;
        }
        match read_back(shared, &mut reader, number)? {
            Ok(seen) => shared.accept.settle(number, seen),
            Err(message) => reconciliation.wrong_answers.push(message),
        }
    }
    if reads_all {
        let mut read = 0;
        for number in &written_records {
            if started.elapsed() >= TIME_LIMIT {
                break;
            }
            reconciliation.wrong_answers.extend(read_back(shared, &mut reader, *number)?.err());
            read += 1;
        }
        reconciliation.read_back = Some(ReadBackCount { written: written_records.len() as u64, read });
    }
    reconciliation.wrong_answers.sort();
    reconciliation.wrong_answers.dedup();
    reader.close();
    Ok(reconciliation)
}

/// Reads and verifies one record. The inner result is what was seen (`None` if the record is absent) or why
/// it is wrong.
fn read_back(
    shared: &JobContext<'_>,
    reader: &mut PointReader<'_>,
    number: u64,
) -> Result<std::result::Result<Option<SeenVersions>, String>> {
    let read = shared.accept.begin_read(number);
    let key =
        KeyValue::of(shared.records, number).map_err(|error| DriverError::Refused(error.to_string()))?;
    let text = reader.text(&key)?;
    let seen = text.map(|text| check(shared, number, &text)).transpose();
    let accepted = seen.and_then(|seen| match shared.accept.accepts(&read, seen) {
        Ok(()) => Ok(seen),
        Err(violation) => Err(violation.to_string()),
    });
    Ok(accepted.map_err(|message| format!("record {number}, read back: {message}")))
}

fn check(shared: &JobContext<'_>, number: u64, text: &str) -> std::result::Result<SeenVersions, String> {
    let scratch = &mut RecordScratch::default();
    let checked = shared.records.check(number, text.as_bytes(), shared.write_scope, scratch);
    checked.map_err(|mismatch| mismatch.to_string())
}
